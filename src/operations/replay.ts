import type { Dispatch } from '../dispatch.ts';
import type { Stay } from '../hub/partition.ts';
import type { DeadLetters, Filed } from './deadLetters.ts';

/** Which letters are meant; undefined leaves a criterion open. */
export interface Choice {
  readonly device: string | undefined;
  readonly since: Date | undefined;
  readonly code: string | undefined;
}

export const chosen = (letters: readonly Filed[], { device, since, code }: Choice): Filed[] =>
  letters.filter(
    ({ letter }) =>
      (device === undefined || letter.deviceId === device) &&
      (since === undefined || letter.parkedAt >= since) &&
      (code === undefined || letter.code === code),
  );

interface Replaying {
  readonly dispatch: Dispatch;
  readonly deadLetters: DeadLetters;
  readonly counters: { readonly parked: number };
}

/** A letter is in nobody's partition: nobody takes it from us. */
const ours: Stay = { charge() {}, closing: new AbortController().signal, gone: new AbortController().signal };

/**
 * Handles letters again as if they came from the hub, one after the other, each device's in hub order. A letter goes
 * when it has been handled; one that fails through our side again is parked anew.
 */
export async function replay(
  letters: readonly Filed[],
  { dispatch, deadLetters, counters }: Replaying,
  progress: (done: number, all: number) => void,
): Promise<{ handled: number; failed: number }> {
  let handled = 0;
  for (const [index, { id, letter }] of letters.entries()) {
    const { event, generation, deviceId, origin, attempts } = letter;
    const parkedBefore = counters.parked;
    const isDone = await dispatch({ event, generation, deviceId, origin, attempts, mayBeRepeat: true }, ours);
    if (isDone && counters.parked === parkedBefore) {
      handled += 1;
      await deadLetters.remove(id);
    }
    progress(index + 1, letters.length);
  }
  return { handled, failed: letters.length - handled };
}
