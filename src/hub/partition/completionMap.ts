/** Sequence numbers that follow each other, both ends included. */
export interface Run {
  readonly first: number;
  readonly last: number;
}

/*
 * map     = version form data          what is done above the watermark, relative to it
 * version = "1"
 * form    = "r" | "b"                  whichever is shorter
 * data    = base64url of
 *   r: { skipped: varint, done: varint }     distance to the next run, and its length
 *   b: one bit for each position above the watermark, lowest bit first
 * varint  = seven bits a byte, lowest first; the highest bit says that more follow
 */
const version = '1';

/** Of the largest safe integer. */
const longestVarint = 8;

/**
 * What is done above the watermark, as text for the checkpoint record. Runs beyond `maxBytes` are left out: what is
 * not remembered is done again.
 * @param runs in order, above `watermark`
 */
export function encodeCompletion(watermark: number, runs: readonly Run[], maxBytes: number): string {
  if (runs.length === 0) return '';
  const lengths = runLengths(watermark, runs, maxBytes);
  const spanBytes = Math.ceil(((runs.at(-1)?.last ?? watermark) - watermark) / 8);
  return spanBytes <= maxBytes && spanBytes < lengths.length
    ? `${version}b${bitmap(watermark, runs, spanBytes).toString('base64url')}`
    : `${version}r${lengths.toString('base64url')}`;
}

/** About how many bytes the map takes: a run takes one or two for its distance, and as many for its length. */
export const completionBytes = ({ runs, span }: { runs: number; span: number }): number =>
  Math.min(runs * 3, Math.ceil(span / 8));

/**
 * Bytes that hold the map while no more than so many messages are not done: each of them may end a run, and a run of
 * less than two million takes four bytes at most.
 */
export const mapBytesFor = (messages: number): number => messages * 4;

/** What the map says is done, in order. A map of another version, or none, says of nothing that it is done. */
export function decodeCompletion(watermark: number, map: string): Run[] {
  const data = Buffer.from(map.slice(2), 'base64url');
  if (map.startsWith(`${version}b`)) return readBitmap(watermark, data);
  return map.startsWith(`${version}r`) ? readRunLengths(watermark, data) : [];
}

/** Whether the number is in one of the runs. */
export function isIn(runs: readonly Run[], sequenceNumber: number): boolean {
  const run = runs[countBelow(runs, sequenceNumber)];
  return run !== undefined && run.first <= sequenceNumber;
}

/** What of the runs is above the number. */
export function runsAbove(runs: readonly Run[], sequenceNumber: number): Run[] {
  const above = runs.slice(countBelow(runs, sequenceNumber + 1));
  const [cut] = above;
  if (cut && cut.first <= sequenceNumber) above[0] = { first: sequenceNumber + 1, last: cut.last };
  return above;
}

/** How many of the runs, which are in order, end below the number. It is asked for every event: the search is binary. */
export function countBelow(runs: readonly Run[], sequenceNumber: number): number {
  let [low, high] = [0, runs.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((runs[middle]?.last ?? 0) < sequenceNumber) low = middle + 1;
    else high = middle;
  }
  return low;
}

function runLengths(watermark: number, runs: readonly Run[], maxBytes: number): Buffer {
  const bytes = Buffer.alloc(Math.min(maxBytes, runs.length * 2 * longestVarint));
  let size = 0;
  let at = watermark;
  for (const { first, last } of runs) {
    const end = writeVarint(bytes, writeVarint(bytes, size, first - at - 1), last - first + 1);
    if (end > bytes.length) break;
    size = end;
    at = last;
  }
  return bytes.subarray(0, size);
}

function readRunLengths(watermark: number, data: Buffer): Run[] {
  const runs: Run[] = [];
  let at = watermark;
  let first: number | undefined;
  let value = 0;
  let scale = 1;
  for (const byte of data) {
    value += (byte & 127) * scale;
    scale *= 128;
    if (byte >= 128) continue;
    if (first === undefined) first = at + value + 1;
    else {
      at = first + value - 1;
      runs.push({ first, last: at });
      first = undefined;
    }
    value = 0;
    scale = 1;
  }
  return runs;
}

function bitmap(watermark: number, runs: readonly Run[], size: number): Buffer {
  const bits = Buffer.alloc(size);
  for (const { first, last } of runs) {
    for (let bit = first - watermark - 1; bit < last - watermark; bit += 1) {
      bits[bit >> 3] = (bits[bit >> 3] ?? 0) | (1 << (bit & 7));
    }
  }
  return bits;
}

function readBitmap(watermark: number, data: Buffer): Run[] {
  const runs: Run[] = [];
  let first: number | undefined;
  const end = watermark + 1 + data.length * 8;
  for (let at = watermark + 1; at <= end; at += 1) {
    const bit = at - watermark - 1;
    if (((data[bit >> 3] ?? 0) >> (bit & 7)) & 1) first ??= at;
    else if (first !== undefined) {
      runs.push({ first, last: at - 1 });
      first = undefined;
    }
  }
  return runs;
}

/** What lies beyond the end of the bytes is not written. Answers where the next one begins. */
function writeVarint(bytes: Buffer, at: number, value: number): number {
  let rest = value;
  let next = at;
  for (; rest >= 128; rest = Math.floor(rest / 128)) {
    bytes[next] = (rest % 128) + 128;
    next += 1;
  }
  bytes[next] = rest;
  return next + 1;
}
