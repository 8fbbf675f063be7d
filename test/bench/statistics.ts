/** A figure of several rounds. */
export interface Figure {
  readonly median: number;
  readonly low: number;
  readonly high: number;
  /** Round by round. */
  readonly values: readonly number[];
}

export function percentile(ascending: readonly number[], share: number): number {
  return ascending[Math.min(ascending.length - 1, Math.floor(ascending.length * share))] ?? Number.NaN;
}

export function figure(values: readonly number[]): Figure {
  const ascending = [...values].sort((a, b) => a - b);
  const middle = ascending.length >> 1;
  const median =
    ascending.length % 2 === 1
      ? (ascending[middle] ?? Number.NaN)
      : ((ascending[middle - 1] ?? Number.NaN) + (ascending[middle] ?? Number.NaN)) / 2;
  return { median, low: ascending[0] ?? Number.NaN, high: ascending.at(-1) ?? Number.NaN, values };
}

/** Round by round: the machine's speed drifts, so only what was measured side by side is compared. */
export const ratios = (above: readonly number[], below: readonly number[]): Figure =>
  figure(above.map((value, index) => value / (below[index] ?? Number.NaN)));
