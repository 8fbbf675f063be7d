import type { DeadLetters } from '../../deadLetters/deadLetterStore.ts';
import type { Choice } from './choice.ts';
import { letterLineOf } from './letterLines.ts';
import { say } from './say.ts';
import { select } from './select.ts';

/** @returns exit code: 1 when a dead letter cannot be read */
export async function list(store: Pick<DeadLetters, 'ids' | 'read'>, choice: Choice): Promise<number> {
  let listed = 0;
  const passedOver = await select(store, choice, (filed) => {
    listed += 1;
    process.stdout.write(`${letterLineOf(filed)}\n`);
  });
  say(`${listed} dead letters`);
  return passedOver === 0 ? 0 : 1;
}
