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
 */
const version = '1';

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

/** Whether a sequence number is done already. A map of another version, or none, says of nothing that it is done. */
export function decodeCompletion(watermark: number, map: string): (sequenceNumber: number) => boolean {
  const data = Buffer.from(map.slice(2), 'base64url');
  if (map.startsWith(`${version}b`)) {
    return (sequenceNumber) => {
      const bit = sequenceNumber - watermark - 1;
      return bit >= 0 && bit < data.length * 8 && (((data[bit >> 3] ?? 0) >> (bit & 7)) & 1) === 1;
    };
  }
  const runs = map.startsWith(`${version}r`) ? readRuns(watermark, data) : [];
  return (sequenceNumber) => {
    const run = runs[firstEndingAt(sequenceNumber, runs)];
    return run !== undefined && run.first <= sequenceNumber;
  };
}

/** Index of the first run that ends at the number or above it. It is asked for every event: the search is binary. */
function firstEndingAt(sequenceNumber: number, runs: readonly Run[]): number {
  let [low, high] = [0, runs.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((runs[middle]?.last ?? 0) < sequenceNumber) low = middle + 1;
    else high = middle;
  }
  return low;
}

function runLengths(watermark: number, runs: readonly Run[], maxBytes: number): Buffer {
  const bytes: number[] = [];
  let at = watermark;
  for (const { first, last } of runs) {
    const added = [...varint(first - at - 1), ...varint(last - first + 1)];
    if (bytes.length + added.length > maxBytes) break;
    bytes.push(...added);
    at = last;
  }
  return Buffer.from(bytes);
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

function readRuns(watermark: number, data: Buffer): Run[] {
  const runs: Run[] = [];
  const values = varints(data);
  let at = watermark;
  for (let index = 0; index + 1 < values.length; index += 2) {
    const first = at + (values[index] ?? 0) + 1;
    at = first + (values[index + 1] ?? 0) - 1;
    runs.push({ first, last: at });
  }
  return runs;
}

/** Seven bits a byte, lowest first; the highest bit says that more follow. */
function varint(value: number): number[] {
  const bytes: number[] = [];
  let rest = value;
  for (; rest >= 128; rest = Math.floor(rest / 128)) bytes.push((rest % 128) + 128);
  bytes.push(rest);
  return bytes;
}

function varints(data: Buffer): number[] {
  const values: number[] = [];
  let value = 0;
  let scale = 1;
  for (const byte of data) {
    value += (byte & 127) * scale;
    scale *= 128;
    if (byte >= 128) continue;
    values.push(value);
    value = 0;
    scale = 1;
  }
  return values;
}
