import { printable } from 'telemetry/printable.ts';
import type { DeadLetters } from '../../deadLetters/deadLetterStore.ts';
import { type Choice, chosenLetters, type StoredLetter } from './choice.ts';
import { say } from './say.ts';

/**
 * Goes through the selected dead letters, and names those that cannot be read.
 * @returns how many could not be read
 */
export async function select(
  store: Pick<DeadLetters, 'ids' | 'read'>,
  choice: Choice,
  each: (filed: StoredLetter) => void,
): Promise<number> {
  let passedOver = 0;
  const letters = chosenLetters(store, choice, ({ message }) => {
    passedOver += 1;
    say(`passed over: ${printable(message)}`);
  });
  for await (const filed of letters) each(filed);
  return passedOver;
}
