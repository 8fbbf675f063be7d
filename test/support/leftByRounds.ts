import { setImmediate as turn } from 'node:timers/promises';
import { queryObjects } from 'node:v8';

interface Repeated {
  readonly round: (number: number) => unknown;
  /** Fewer for what takes long. */
  readonly rounds?: number;
  /** Removes what parts of the test keep of the rounds. */
  readonly forget?: () => void;
  /** Objects that libraries and parts of the test keep of each round. */
  readonly kept?: number;
}

/**
 * What leaves objects that something still holds (functions, promises, timers and sockets, too), with their number for each round,
 * or 5 MB of memory; empty when nothing is left. To count takes half a second, so that all is counted together at first.
 */
export async function leftByRounds(all: Readonly<Record<string, Repeated>>): Promise<Record<string, number>> {
  if (!isTooMuch(await grownBy(Object.values(all)), Object.values(all))) return {};
  const found: Record<string, number> = {};
  for (const [what, one] of Object.entries(all)) {
    const grown = await grownBy([one]);
    if (isTooMuch(grown, [one])) found[what] = Math.round(grown.objects / roundsOf(one));
  }
  return found;
}

const mostBytes = 5_000_000;
const roundsOf = ({ rounds = 100 }: Repeated): number => rounds;

type Growth = Readonly<{ objects: number; bytes: number }>;

function isTooMuch({ objects, bytes }: Growth, many: readonly Repeated[]): boolean {
  const kept = many.reduce((sum, one) => sum + roundsOf(one) * (one.kept ?? 0), 0);
  return objects - kept >= Math.min(...many.map(roundsOf)) || bytes >= mostBytes;
}

async function grownBy(many: readonly Repeated[]): Promise<Growth> {
  async function living(shareOfRounds: number): Promise<Growth> {
    for (const one of many) {
      for (let number = 0; number < roundsOf(one) * shareOfRounds; number += 1) await one.round(number);
      one.forget?.();
    }
    for (let turns = 0; turns < 10; turns += 1) await turn();
    const objects = Number(queryObjects(Object)); // collects garbage first
    return { objects, bytes: process.memoryUsage().heapUsed };
  }
  const before = await living(1 / 5); // what is made once is there then
  const after = await living(1);
  return { objects: after.objects - before.objects, bytes: after.bytes - before.bytes };
}
