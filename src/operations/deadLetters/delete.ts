import type { DeadLetters } from '../../deadLetters/deadLetterStore.ts';
import type { Choice } from './choice.ts';
import { letterLineOf } from './letterLines.ts';
import { say } from './say.ts';
import { select } from './select.ts';

/** Requests to the store at once. */
const together = 16;

interface Deletion {
  /** Those with these ids, also when they cannot be read; when empty, those of the choice. */
  readonly ids: readonly string[];
  readonly choice: Choice;
  readonly isDryRun: boolean;
}

/**
 * Deletes dead letters for good, and prints a line for each.
 * @returns exit code: 1 when one is not there or cannot be read
 * @throws Error without a selection: a forgotten option must not delete all of them
 */
export async function deleteLetters(
  store: Pick<DeadLetters, 'ids' | 'read' | 'remove'>,
  { ids, choice, isDryRun }: Deletion,
): Promise<number> {
  const criteria = Object.values(choice).filter((one) => one !== undefined);
  if (ids.length > 0 && criteria.length > 0) throw new Error('delete takes ids or options, not both');
  if (ids.length === 0 && criteria.length === 0) {
    throw new Error('delete which ones? An id, --device, --before, --since or --code says so');
  }
  const lines = new Map<string, string>();
  let missed = 0;
  if (ids.length > 0) {
    const there = new Set(await store.ids());
    for (const id of ids) {
      if (there.has(id)) lines.set(id, id);
      else {
        missed += 1;
        say(`there is no dead letter ${JSON.stringify(id)}`);
      }
    }
  } else missed = await select(store, choice, (filed) => lines.set(filed.id, letterLineOf(filed)));

  const chosen = [...lines.keys()];
  for (let next = 0; next < chosen.length; next += together) {
    const some = chosen.slice(next, next + together);
    if (!isDryRun) await Promise.all(some.map((id) => store.remove(id)));
    for (const id of some) process.stdout.write(`${lines.get(id)}\n`);
  }
  say(isDryRun ? `Dry run: ${lines.size} dead letters would be deleted` : `${lines.size} dead letters deleted`);
  return missed === 0 ? 0 : 1;
}
