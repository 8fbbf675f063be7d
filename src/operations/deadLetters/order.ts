import { type DeadLetter, folderOfId } from '../../deadLetters/deadLetter.ts';
import type { Arrival } from '../../protocol/arrival.ts';

/** The order of a replay: each device's dead letters in hub order, which is that of their ids. */
export function byDevice(ids: readonly string[]): Map<string, string[]> {
  const devices = new Map<string, string[]>();
  for (const id of ids) {
    const own = devices.get(folderOfId(id));
    if (own) own.push(id);
    else devices.set(folderOfId(id), [id]);
  }
  return devices;
}

/** The dead letters of a device that are replayed before one of them, and the newer ones that prevent its replay (D283). */
export const neighbours = (own: readonly string[], index: number) => ({
  older: own.slice(0, index),
  newer: own.slice(index + 1),
});

/** A dead letter as it comes to its handling. */
export const arrivalOf = ({ event, generation, deviceId, origin, attempts }: DeadLetter): Arrival => ({
  ...{ event, generation, deviceId, origin, attempts },
  redelivered: true,
});
