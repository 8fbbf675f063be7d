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

/** A ratio with bounds between which the true one lies with a probability of 95 %. */
export interface Interval {
  readonly ratio: number;
  readonly low: number;
  readonly high: number;
}

/**
 * How two programs that were measured round by round differ: the geometric mean of the ratios of the rounds, with Student's
 * interval of their logarithms. NaN where something was 0, or there are fewer than `leastRounds`.
 */
export function pairedRatio(above: readonly number[], below: readonly number[]): Interval {
  const logs = above.map((value, index) => Math.log(value / (below[index] ?? Number.NaN)));
  const mean = logs.reduce((sum, log) => sum + log, 0) / logs.length;
  const variance = logs.reduce((sum, log) => sum + (log - mean) ** 2, 0) / (logs.length - 1);
  const half = quantileOfT(logs.length - 1) * Math.sqrt(variance / logs.length);
  return { ratio: Math.exp(mean), low: Math.exp(mean - half), high: Math.exp(mean + half) };
}

export const leastRounds = 5;

/** The 97.5 % quantile of Student's distribution: the expansion of Cornish and Fisher, right to 0.001 from 4 degrees on. */
function quantileOfT(degrees: number): number {
  if (degrees < leastRounds - 1) return Number.NaN;
  const terms = [1.95996, 2.3723, 2.8225, 2.5558, 1.5895];
  return terms.reduce((sum, term, power) => sum + term / degrees ** power, 0);
}

/** Round by round: the machine's speed drifts, so only what was measured side by side is compared. */
export const ratios = (above: readonly number[], below: readonly number[]): Figure =>
  figure(above.map((value, index) => value / (below[index] ?? Number.NaN)));
