import { randomInt } from 'node:crypto';
import { coverSecrets, identifyingLength, piecesOf } from './secretPieces.ts';

/** Whole bytes in any `telling` characters of base64. */
const tellingBytes = 5;

/** A text, or what it says when it is decoded, and where in the text each character stands. */
interface Reading {
  readonly text: string;
  placeOf(at: number): number;
}

/** What may be a part of the secret. */
interface Part {
  readonly reading: Reading;
  /** Where in the reading it begins. */
  readonly at: number;
  readonly number: number;
  /** Another part with the same text. */
  same: Part | undefined;
  /** Another part with the same number, counted from 1; 0 for none. */
  readonly next: number;
  /** It has been found in the secret. */
  isFound: boolean;
}

/**
 * Marks in `covered` the characters of the secret, whole or cut: as it is, percent-encoded or in base64. Time is linear in both,
 * and nothing is kept: for secrets that come once. For others, `piecesOf` prepares what `coverSecrets` looks up.
 * @param secret printable ASCII
 */
export function coverSecret(words: string, secret: string, covered: Uint8Array): void {
  if (secret.length < identifyingLength) {
    coverSecrets(words, piecesOf([secret]), covered);
    return;
  }
  const readings = readingsOf(words);
  coverParts(secret, readings, identifyingLength, covered);
  coverParts(secret, readings.flatMap(base64In), tellingBytes, covered);
}

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
function base64In({ text, placeOf }: Reading): Reading[] {
  const readings: Reading[] = [];
  for (const { 0: run, index } of text.matchAll(/[\w+/-]{8,}/g)) {
    for (let before = 0; before < 4; before += 1) {
      const bytes = Buffer.from('A'.repeat(before) + run, 'base64').subarray(before);
      const characters = (at: number) => Math.ceil(((at + before) * 8) / 6) - before;
      readings.push({ text: bytes.toString('latin1'), placeOf: (at) => placeOf(index + characters(at)) });
    }
  }
  return readings;
}

/** Without differences that a backend may make: the case of letters, and the two alphabets of base64. */
const canonical = Buffer.from(
  String.fromCharCode(...Array.from({ length: 256 }, (_, code) => code))
    .replace(/[A-Z]/g, (letter) => letter.toLowerCase())
    .replace('-', '+')
    .replace('_', '/'),
  'latin1',
);

/** Random, so that no sender can choose parts that share a number; the same for characters that are canonically the same. */
const random = Int32Array.from({ length: 256 }, () => randomInt(2 ** 32));
const mix = Int32Array.from(canonical, (code) => random[code] as number);

/** Characters before the last few are shifted out of the 32 bits. */
const rolled = (hash: number, code: number, shift: number): number => (hash << shift) ^ (mix[code & 255] as number);

/** The latest part with each number, counted from 1; 0 for none, as between two calls. */
const latest = new Uint16Array(65_536);

/** Marks the parts of this length that are in the secret. Passes over the secret once, and marks each part once. */
function coverParts(secret: string, readings: readonly Reading[], length: number, covered: Uint8Array): void {
  const shift = Math.ceil(32 / length);
  const parts: Part[] = [];
  for (const reading of readings) addParts(reading, length, shift, parts);
  if (parts.length === 0) return;
  const codes = Buffer.from(secret, 'latin1'); // read faster than a string
  let hash = 0;
  for (let end = 1; end <= codes.length; end += 1) {
    hash = rolled(hash, codes[end - 1] as number, shift);
    if (latest[hash >>> 16] === 0) continue;
    const found = partOf(parts, hash >>> 16, secret, end - length, length);
    if (found === undefined || found.isFound) continue;
    found.isFound = true;
    for (let part: Part | undefined = found; part !== undefined; part = part.same) {
      covered.fill(1, part.reading.placeOf(part.at), part.reading.placeOf(part.at + length));
    }
  }
  for (const { number } of parts) latest[number] = 0;
}

/** Adds each part of this length that has only characters of secrets. */
function addParts(reading: Reading, length: number, shift: number, parts: Part[]): void {
  const { text } = reading;
  let hash = 0;
  let begin = 0;
  for (let end = 1; end <= text.length; end += 1) {
    const code = text.charCodeAt(end - 1);
    if (code < 0x21 || code > 0x7e) begin = end;
    hash = rolled(hash, code, shift);
    const at = end - length;
    if (at < begin) continue;
    const number = hash >>> 16;
    const next = latest[number] as number;
    const twin = next === 0 ? undefined : partOf(parts, number, text, at, length);
    if (twin !== undefined) twin.same = { reading, at, number, same: twin.same, next: 0, isFound: false };
    else latest[number] = parts.push({ reading, at, number, same: undefined, next, isFound: false });
  }
}

/** The part with this number that says the same as the text does here. */
function partOf(parts: readonly Part[], number: number, text: string, at: number, length: number): Part | undefined {
  let part = parts[(latest[number] as number) - 1];
  while (part !== undefined && !saysTheSame(part.reading.text, part.at, text, at, length)) part = parts[part.next - 1];
  return part;
}

function saysTheSame(a: string, atA: number, b: string, atB: number, length: number): boolean {
  for (let passed = 0; passed < length; passed += 1) {
    if (canonical[a.charCodeAt(atA + passed)] !== canonical[b.charCodeAt(atB + passed)]) return false;
  }
  return true;
}
