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

/** Strings, punctuation, and everything else: numbers and names. */
const token = /"[^"\\]*(?:\\.[^"\\]*)*"|[{}[\],:]|[^\s"{}[\],:]+/g;

/** @param text well-formed JSON */
function redacted(text: string, scrub: (text: string) => string): string {
  let shown = '';
  let depth = 0;
  /** The depth at which the hidden value stands; undefined while nothing is hidden. */
  let hiddenAt: number | undefined;
  const tokens = text.match(token) ?? [];
  for (const [index, one] of tokens.entries()) {
    if (one === '}' || one === ']') depth -= 1;
    // A hidden value ends before the comma or the bracket that follows it on its level.
    if (hiddenAt !== undefined && ((one === ',' && depth === hiddenAt) || depth < hiddenAt)) hiddenAt = undefined;
    if (hiddenAt === undefined) shown += one.startsWith('"') ? scrubbed(one, scrub) : one;
    if (one === '{' || one === '[') depth += 1;
    const name = one === ':' ? tokens[index - 1] : undefined;
    if (hiddenAt === undefined && name !== undefined && isSecretName(JSON.parse(name))) {
      shown += hidden;
      hiddenAt = depth;
    }
  }
  return shown;
}

function scrubbed(literal: string, scrub: (text: string) => string): string {
  const text: string = JSON.parse(literal);
  const clean = scrub(text);
  return clean === text ? literal : JSON.stringify(clean);
}
