import { readFile } from 'node:fs/promises';
import { join } from 'node:path';

/** A file of the page with the headers that it is served with. */
export interface PageFile {
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
}

/** The files of a built page, by the last part of their path; `''` is the page itself. */
export type PageFiles = (name: string) => Promise<PageFile | undefined>;

const files: Readonly<Record<string, readonly [file: string, type: string]>> = {
  '': ['index.html', 'text/html; charset=utf-8'],
  'page.js': ['page.js', 'text/javascript; charset=utf-8'],
  'page.css': ['page.css', 'text/css; charset=utf-8'],
  'icon.svg': ['icon.svg', 'image/svg+xml'],
};

/**
 * Nothing but the page's own files runs or is fetched, it is in no frame, and no text becomes markup (D421).
 */
export const pageHeaders: Readonly<Record<string, string>> = {
  'content-security-policy': [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "img-src 'self'",
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
    "require-trusted-types-for 'script'",
    "trusted-types 'none'",
  ].join('; '),
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'cache-control': 'no-store',
};

/** Reads files when they are asked for: a program that carries the page does nothing for it at its start. */
export function createPageFiles(directory: string): PageFiles {
  return async (name) => {
    const known = Object.hasOwn(files, name) ? files[name] : undefined;
    if (known === undefined) return undefined;
    const [file, type] = known;
    const body = await readFile(join(directory, file)).catch(() => undefined);
    return body && { headers: { ...pageHeaders, 'content-type': type }, body };
  };
}
