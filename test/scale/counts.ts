/** What happens, second by second. */
export interface Counts {
  count(): void;
  /** How many in each second from one to another time, in milliseconds. */
  between(fromMs: number, toMs: number): number[];
  /** How many in this second, without those that the other has counted in it. */
  inSecond(without?: Counts): number;
}

export function createCounts(now: () => number): Counts {
  const seconds: number[] = [];
  const at = (ms: number) => Math.floor(ms / 1000);
  const inSecond = () => seconds[at(now())] ?? 0;
  return {
    count() {
      seconds[at(now())] = inSecond() + 1;
    },
    between: (fromMs, toMs) =>
      Array.from({ length: Math.max(1, at(toMs) - at(fromMs)) }, (_, index) => seconds[at(fromMs) + index] ?? 0),
    inSecond: (without) => inSecond() - (without?.inSecond() ?? 0),
  };
}
