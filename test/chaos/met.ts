import { setTimeout as sleep } from 'node:timers/promises';
import type { StandingFault } from '../../iot-hub-emulator/src/faults/schema.ts';
import { partitionsReadBy } from './bounds.ts';
import type { Instance } from './instance.ts';
import type { Stage } from './stage.ts';

/** How many calls, connections, partitions or replies a misfortune has met so far. One that met nothing has proved nothing. */
export type Met = () => number;

/** What strikes at once strikes again until it meets something, or there is nothing left to meet. */
export async function untilMet(
  { over }: Pick<Stage, 'over'>,
  strike: () => Promise<number>,
  everyMs = 100,
): Promise<Met> {
  let met = await strike();
  while (met === 0 && !over.aborted) {
    await sleep(everyMs);
    met = await strike();
  }
  return () => met;
}

/** The death of an instance that has nothing to do is none. @returns how many partitions it reads */
export const untilReading = (stage: Pick<Stage, 'over'>, instance: Instance): Promise<Met> =>
  untilMet(stage, async () => (await partitionsReadBy(instance, Date.now())).size);

/** How often a fault of the hub has struck: one that is not listed any more has struck as often as it may. */
export function metBy({ hub }: Stage, fault: StandingFault): Met {
  const id = hub.faults.add(fault);
  return () => hub.faults.list().find((one) => one.id === id)?.struck ?? 1;
}

/** Cuts connections of the hub; what it had taken before may not have been confirmed. */
export async function cutting(stage: Stage, strike: () => Promise<number>): Promise<Met> {
  stage.cuts.push(Date.now());
  const met = await untilMet(stage, strike);
  stage.cuts.push(Date.now());
  return met;
}

/** Takes down from when till when the store was in trouble. */
export async function inStore(stage: Stage, trouble: () => Promise<number>): Promise<Met> {
  const from = Date.now();
  const met = await untilMet(stage, trouble);
  stage.storeTroubles.push({ from, to: Date.now() });
  return met;
}
