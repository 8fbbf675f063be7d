/** This many characters in a row identify a secret. Fewer could be an ordinary word. */
export const identifyingLength = 8;

const mark = '…';

/** In lower case: short secrets as a whole, and every part of the long ones. */
export interface Pieces {
  readonly whole: readonly string[];
  readonly parts: ReadonlySet<string>;
}

export function piecesOf(secrets: readonly string[]): Pieces {
  const whole: string[] = [];
  const parts = new Set<string>();
  for (const form of secrets.filter((secret) => secret !== '').flatMap(formsOf)) {
    if (form.length < identifyingLength) whole.push(form);
    for (let at = 0; at + identifyingLength <= form.length; at += 1) parts.add(form.slice(at, at + identifyingLength));
  }
  return { whole, parts };
}

/** A secret as plain text, percent-encoded, and in base64 of both alphabets, at any offset (as in `Basic` credentials). */
function formsOf(secret: string): string[] {
  const base64 = [0, 1, 2].flatMap((before) => {
    const bytes = Buffer.concat([Buffer.alloc(before), Buffer.from(secret)]);
    // Without the characters that depend on the bytes before and after the secret.
    const text = bytes.toString('base64').slice(before && before + 1, Math.floor((bytes.length * 4) / 3));
    return [text, text.replaceAll('+', '-').replaceAll('/', '_'), encodeURIComponent(text)];
  });
  const forms = [secret, encodeURIComponent(secret.toWellFormed()), ...base64];
  return [...new Set(forms.filter((form) => form !== '').map(lowerCase))];
}

/** Changes only ASCII letters, so that offsets stay the same. */
const lowerCase = (text: string): string => text.replace(/[A-Z]+/g, (letters) => letters.toLowerCase());

/** Marks in `covered` the characters that are of a secret, whole or cut. */
export function coverSecrets(words: string, { whole, parts }: Pieces, covered: Uint8Array): void {
  const lower = lowerCase(words);
  for (const form of whole) {
    for (let at = lower.indexOf(form); at >= 0; at = lower.indexOf(form, at + 1)) covered.fill(1, at, at + form.length);
  }
  if (parts.size === 0) return;
  for (let at = 0; at + identifyingLength <= lower.length; at += 1) {
    if (parts.has(lower.slice(at, at + identifyingLength))) covered.fill(1, at, at + identifyingLength);
  }
}

/** The text with one mark for each covered part. */
export function uncovered(words: string, covered: Uint8Array): string {
  if (!covered.includes(1)) return words;
  let text = '';
  for (let at = 0; at < words.length; at += 1) {
    if (!covered[at]) text += words[at];
    else if (!covered[at - 1]) text += mark;
  }
  return text;
}
