import { constants, deflateSync, inflateSync } from 'node:zlib';

/** Consecutive sequence numbers, both ends included. */
export type SequenceRange = Readonly<Record<'first' | 'last', number>>;

/** What is done above a position: one bit for each sequence number above it, the lowest bit of a byte first. */
export type Completion = { readonly position: number; readonly bits: Uint8Array };

/*
 * map  = "2 " position " " data
 * data = base64url of the bits, compressed by zlib; its checksum detects damage
 */
const grammar = /^2 (-?\d{1,16}) ([\w-]+)$/;

/** Bits for 8 million sequence numbers; those farther above the position are left out. */
const maxBytes = 1024 * 1024;

/**
 * As text for the checkpoint; empty when nothing is done above the position. What is outside is handled again.
 * @param runs in order, above the position. @param before of an earlier map, with this position or a lower one
 */
export function encodeCompletion(position: number, runs: readonly SequenceRange[], before?: Completion): string {
  const endBefore = before ? before.position + before.bits.length * 8 : position;
  const end = Math.max(position, endBefore, runs.at(-1)?.last ?? position);
  const bits = new Uint8Array(Math.min(maxBytes, Math.ceil((end - position) / 8)));
  if (before) copyBits(bits, before.bits, position - before.position);
  for (const { first, last } of runs) setBits(bits, first - position - 1, last - position);
  const length = bits.findLastIndex((byte) => byte !== 0) + 1;
  if (length === 0) return '';
  const data = deflateSync(bits.subarray(0, length), { strategy: constants.Z_RLE }); // 10 times faster, same size
  return `2 ${position} ${data.toString('base64url')}`;
}

/** Undefined when the map is damaged, of another version, or of another position. */
export function decodeCompletion(position: number, map: string): Completion | undefined {
  const [, writtenAt, data = ''] = grammar.exec(map) ?? [];
  if (writtenAt !== String(position)) return undefined;
  try {
    return { position, bits: inflateSync(Buffer.from(data, 'base64url'), { maxOutputLength: maxBytes }) };
  } catch {
    return undefined;
  }
}

export function isDone({ position, bits }: Completion, sequenceNumber: number): boolean {
  const bit = sequenceNumber - position - 1;
  return (((bits[Math.floor(bit / 8)] ?? 0) >> (bit & 7)) & 1) === 1;
}

/** @param skipped leading bits of `from` to omit */
function copyBits(bits: Uint8Array, from: Uint8Array, skipped: number): void {
  const bytes = Math.floor(skipped / 8);
  for (let at = 0; at < bits.length && at + bytes < from.length; at += 1) {
    const two = (from[at + bytes] ?? 0) | ((from[at + bytes + 1] ?? 0) << 8);
    bits[at] = two >> (skipped & 7);
  }
}

function setBits(bits: Uint8Array, first: number, end: number): void {
  const to = Math.min(end, bits.length * 8);
  for (let bit = first; bit < to; ) {
    const isWhole = bit % 8 === 0 && to - bit >= 8;
    if (isWhole) bits.fill(255, bit / 8, Math.floor(to / 8));
    else bits[bit >> 3] = (bits[bit >> 3] ?? 0) | (1 << (bit & 7));
    bit = isWhole ? to - (to % 8) : bit + 1;
  }
}
