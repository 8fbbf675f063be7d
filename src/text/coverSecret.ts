import { randomInt } from 'node:crypto';
import { coverSecrets, piecesOf, telling } from './secretPieces.ts';

/** Whole bytes in any `telling` characters of base64. */
const tellingBytes = 5;

/** A text, or what it says when it is decoded, and where in the text each character stands. */
interface Reading {
  readonly text: string;
  placeOf(at: number): number;
}

/** What may be a part of the secret, canonically, and where in the text it stands. */
type Windows = Map<string, [from: number, to: number][]>;

/**
 * Marks in `covered` what is of the secret, whole or cut: as it is, percent-encoded or in base64. Time is linear in both,
 * and nothing is kept: for secrets that come once. For others, `piecesOf` prepares what `coverSecrets` looks up.
 * @param secret printable ASCII
 */
export function coverSecret(words: string, secret: string, covered: Uint8Array): void {
  if (secret.length < telling) {
    coverSecrets(words, piecesOf([secret]), covered);
    return;
  }
  const asItIs: Windows = new Map();
  const inBase64: Windows = new Map();
  for (const reading of readingsOf(words)) {
    addWindows(reading, telling, asItIs);
    for (const bytes of base64In(reading)) addWindows(bytes, tellingBytes, inBase64);
  }
  coverFound(secret, asItIs, telling, covered);
  coverFound(secret, inBase64, tellingBytes, covered);
}

/** Without differences that a backend may make: the case of letters, and the two alphabets of base64. */
const canonical = (text: string): string =>
  text
    .replace(/[A-Z]+/g, (letters) => letters.toLowerCase())
    .replaceAll('-', '+')
    .replaceAll('_', '/');

function readingsOf(words: string): Reading[] {
  const plain: Reading = { text: words, placeOf: (at) => at };
  return words.includes('%') ? [plain, percentDecoded(words)] : [plain];
}

function percentDecoded(words: string): Reading {
  const places: number[] = [];
  const characters = [...words.matchAll(/%([\da-f]{2})|./gis)].map(({ 0: character, 1: code, index }) => {
    places.push(index);
    return code === undefined ? character : String.fromCharCode(Number.parseInt(code, 16));
  });
  return { text: characters.join(''), placeOf: (at) => places[at] ?? words.length };
}

/**
 * Four characters of base64 are three bytes, and a run may begin with any of the four. Each run is decoded behind none to
 * three others, without the bytes that these share.
 */
function* base64In({ text, placeOf }: Reading): Generator<Reading> {
  for (const { 0: run, index } of text.matchAll(/[\w+/-]{8,}/g)) {
    for (let before = 0; before < 4; before += 1) {
      const bytes = Buffer.from('A'.repeat(before) + run, 'base64').subarray(before);
      const characters = (at: number) => Math.ceil(((at + before) * 8) / 6) - before;
      yield { text: bytes.toString('latin1'), placeOf: (at) => placeOf(index + characters(at)) };
    }
  }
}

/** Adds each part of this length that has only characters of secrets. */
function addWindows({ text, placeOf }: Reading, length: number, windows: Windows): void {
  for (const { 0: run, index } of text.matchAll(/[!-~]{5,}/g)) {
    const form = canonical(run);
    for (let at = 0; at + length <= form.length; at += 1) {
      const window = form.slice(at, at + length);
      const place: [number, number] = [placeOf(index + at), placeOf(index + at + length)];
      const known = windows.get(window);
      if (known === undefined) windows.set(window, [place]);
      else known.push(place);
    }
  }
}

/** Random, so that nobody can choose windows that share a number; the same for characters that are canonically the same. */
const random = Int32Array.from({ length: 256 }, () => randomInt(2 ** 32));
const mix = random.map((_, code) => random[canonical(String.fromCharCode(code)).charCodeAt(0)] as number);

/** How many windows have this number; empty between two calls. */
const numbered = new Uint16Array(65_536);

/** Earlier characters than the last few are shifted out of the 32 bits. */
const rolled = (hash: number, code: number, shift: number): number => (hash << shift) ^ (mix[code & 255] as number);

function numberOf(window: string, shift: number): number {
  let hash = 0;
  for (let at = 0; at < window.length; at += 1) hash = rolled(hash, window.charCodeAt(at), shift);
  return hash >>> 16;
}

/** Passes over the secret once, and looks only where the number of a window comes up. Each window is found once. */
function coverFound(secret: string, windows: Windows, length: number, covered: Uint8Array): void {
  if (windows.size === 0) return;
  const shift = Math.ceil(32 / length);
  const numbers = Array.from(windows.keys(), (window) => numberOf(window, shift));
  for (const number of numbers) numbered[number] = (numbered[number] as number) + 1;
  const codes = Buffer.from(secret, 'latin1'); // read faster than a string
  let hash = 0;
  for (let end = 1; end <= codes.length; end += 1) {
    hash = rolled(hash, codes[end - 1] as number, shift);
    if (numbered[hash >>> 16] === 0) continue;
    const window = canonical(secret.slice(end - length, end));
    const places = windows.get(window);
    if (places === undefined) continue;
    for (const [from, to] of places) covered.fill(1, from, to);
    windows.delete(window);
    numbered[hash >>> 16] = (numbered[hash >>> 16] as number) - 1;
  }
  for (const number of numbers) numbered[number] = 0;
}
