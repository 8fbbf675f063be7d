import { gunzipSync } from 'node:zlib';
import type { Printer } from './print.ts';

/** Prints application properties and body of a message, indented, for a person. */
export function showMessage(
  { line, paint }: Printer,
  message: { properties: Readonly<Record<string, string>>; body: Uint8Array },
): void {
  const width = Math.max(0, ...Object.keys(message.properties).map((name) => name.length));
  for (const [name, value] of Object.entries(message.properties)) {
    line(`    ${paint('cyan', name.padEnd(width))}  ${visible(value)}`);
  }
  for (const row of readable(unpack(message)).split('\n')) line(`    ${row}`);
}

/** Prints a value as indented JSON, for a person. */
export const showJson = (printer: Pick<Printer, 'line'>, value: unknown): void =>
  showText(printer, JSON.stringify(value) ?? '');

/** Prints a text: indented if it is JSON, else escaped on one line. */
export function showText({ line }: Pick<Printer, 'line'>, text: string): void {
  for (const row of readable(Buffer.from(text)).split('\n')) line(`    ${row}`);
}

/** JSON without the signatures in addresses of files, with which anyone could fetch them. */
export const withoutSignatures = (json: string): string => json.replace(/([?&]sig=)[^&"]*/g, '$1…');

/** The body's bytes, unpacked where the properties say that they are gzip in base64. Damaged data comes back as it is. */
export function unpack(message: { properties: Readonly<Record<string, string>>; body: Uint8Array }): Buffer {
  const body = Buffer.from(message.body);
  if (message.properties['content-encoding'] !== 'gzip') return body;
  try {
    return gunzipSync(Buffer.from(body.toString('latin1'), 'base64'));
  } catch {
    return body;
  }
}

/** Indents JSON without touching a number or the order of keys. What is not JSON comes back escaped on one line. */
function readable(body: Buffer): string {
  const text = body.toString('utf8');
  try {
    JSON.parse(text);
  } catch {
    return text === '' ? '(empty body)' : visible(text);
  }
  return indent(text).replace(controlButNewline, spelled);
}

/** Takes well-formed JSON. */
function indent(json: string): string {
  let depth = 0;
  const newline = () => `\n${'  '.repeat(depth)}`;
  return json.replace(/\s*("(?:[^"\\]|\\.)*"|[{[]\s*[}\]]|[{}[\],:]|[^\s{}[\],:"]+)\s*/g, (_all, token: string) => {
    if (token === '{' || token === '[') {
      depth += 1;
      return token + newline();
    }
    if (token === '}' || token === ']') {
      depth -= 1;
      return newline() + token;
    }
    if (token === ',') return token + newline();
    return token === ':' ? ': ' : token.replace(/^([{[])\s*/, '$1');
  });
}

const control = /\p{Cc}/gu;
const controlButNewline = /(?!\n)\p{Cc}/gu;

/** Control characters would move the cursor of a terminal, or break the line: they are spelled out. */
export function visible(text: string): string {
  return text.replace(control, spelled) || '""';
}

function spelled(character: string): string {
  const code = character.charCodeAt(0);
  return code < 0x20 ? JSON.stringify(character).slice(1, -1) : `\\u${code.toString(16).padStart(4, '0')}`;
}
