import { Differs } from './differs.ts';

/** A real hub answers within seconds; a feedback may take fifteen. */
const answersWithinMs = 40_000;

/** @throws Differs when it has not come in time */
export async function within<T>(what: string, coming: Promise<T>, ms = answersWithinMs): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Differs(`${what} has not come within ${ms / 1000} s`)), ms);
  });
  return Promise.race([coming, late]).finally(() => clearTimeout(timer));
}
