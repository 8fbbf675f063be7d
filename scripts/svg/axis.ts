/** Where values of an axis are, and which have a tick. */
export interface Axis {
  /** @returns a position in pixels */
  at(value: number): number;
  readonly ticks: readonly number[];
  /** A tick as text. */
  label(tick: number): string;
}

type Pixels = readonly [first: number, last: number];

const nice = [1, 2, 5, 10];

/** The smallest of 1, 2 and 5 times a power of ten that needs at most so many steps. */
export function niceStep(range: number, mostSteps: number): number {
  const power = 10 ** Math.floor(Math.log10(range / mostSteps));
  return power * (nice.find((one) => one * power * mostSteps >= range * (1 - 1e-9)) ?? 10);
}

/** From 0, to the first tick that is not below `max`. */
export function linearAxis(max: number, [first, last]: Pixels, mostSteps = 5): Axis {
  const range = max > 0 ? max : 1;
  const step = niceStep(range, mostSteps);
  const count = Math.ceil((range / step) * (1 - 1e-9));
  const top = count * step;
  const digits = Math.max(0, -Math.floor(Math.log10(step)));
  return {
    at: (value) => first + (value / top) * (last - first),
    ticks: Array.from({ length: count + 1 }, (_, index) => index * step),
    label: (tick) => tick.toLocaleString('en', { minimumFractionDigits: digits, maximumFractionDigits: digits }),
  };
}

/** Each tick is ten times the one before. Values below `min` are at its position. */
export function logarithmicAxis([min, max]: readonly [number, number], [first, last]: Pixels): Axis {
  const lowest = Math.floor(Math.log10(min) + 1e-9);
  const highest = Math.max(lowest + 1, Math.ceil(Math.log10(max) - 1e-9));
  const share = (value: number) => (Math.log10(Math.max(value, 10 ** lowest)) - lowest) / (highest - lowest);
  return {
    at: (value) => first + share(value) * (last - first),
    ticks: Array.from({ length: highest - lowest + 1 }, (_, index) => 10 ** (lowest + index)),
    label: (tick) => tick.toLocaleString('en', { maximumFractionDigits: 9 }),
  };
}

const steps = [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600];

/** Of seconds from 0 to the end, with a tick at least every 60 pixels. */
export function timeAxis(end: number, [first, last]: Pixels): Axis {
  const mostSteps = Math.max(1, (last - first) / 60);
  const step = steps.find((one) => one * mostSteps >= end) ?? niceStep(end, mostSteps);
  return {
    at: (value) => first + (value / end) * (last - first),
    ticks: Array.from({ length: Math.floor(end / step + 1e-9) + 1 }, (_, index) => index * step),
    label: String,
  };
}
