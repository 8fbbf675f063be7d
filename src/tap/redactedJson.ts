import { jsonToken } from 'telemetry/exactJson.ts';

/** Larger texts are not shown: they would have to be read whole to find what is secret in them. */
const mostBytes = 64 * 1024;

/** Members with such a name are hidden with all that is in them, rather too many than too few. */
const secretName = /key|secret|password|token|signature|credential|connectionstring|^sas$|^sig$/i;

const hidden = '"…"';

/** Whether the value of a member with this name is hidden. */
export const isSecretName = (name: string): boolean => secretName.test(name);

/**
 * JSON as it was received or sent, without white space and without secrets; for anything else only its size. Numbers stay
 * as they are.
 * @param scrub removes secrets from a text
 */
export function redactedJson(content: string | Uint8Array, scrub: (text: string) => string): string {
  const bytes = typeof content === 'string' ? Buffer.byteLength(content) : content.byteLength;
  if (bytes > mostBytes) return `[${bytes} bytes]`;
  const text = typeof content === 'string' ? content : Buffer.from(content).toString('utf8');
  if (!isJson(text)) return `[${bytes} bytes, not JSON]`;
  return redacted(text, scrub);
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

/** @param text well-formed JSON */
function redacted(text: string, scrub: (text: string) => string): string {
  let shown = '';
  let depth = 0;
  /** The depth at which the hidden value stands; undefined while nothing is hidden. */
  let hiddenAt: number | undefined;
  for (const token of text.match(jsonToken) ?? []) {
    if (token === '}' || token === ']') depth -= 1;
    // A hidden value ends before the comma or the bracket that follows it on its level.
    if (hiddenAt !== undefined && ((token === ',' && depth === hiddenAt) || depth < hiddenAt)) hiddenAt = undefined;
    if (token === '{' || token === '[') depth += 1;
    if (hiddenAt !== undefined) continue;
    const literal = token.slice(0, token.lastIndexOf('"') + 1);
    shown += literal === '' ? token : scrubbed(literal, scrub);
    if (!token.endsWith(':')) continue;
    shown += ':';
    if (!isSecretName(JSON.parse(literal))) continue;
    shown += hidden;
    hiddenAt = depth;
  }
  return shown;
}

function scrubbed(literal: string, scrub: (text: string) => string): string {
  const text: string = JSON.parse(literal);
  const clean = scrub(text);
  return clean === text ? literal : JSON.stringify(clean);
}
