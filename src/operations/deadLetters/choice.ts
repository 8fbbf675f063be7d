import { type DeadLetter, UnreadableDeadLetter } from '../../deadLetters/deadLetter.ts';
import type { DeadLetters } from '../../deadLetters/deadLetterStore.ts';

/** A selection of dead letters; an undefined criterion matches all. */
export interface Choice {
  readonly device: string | undefined;
  /** Parked at this time or later. */
  readonly since: Date | undefined;
  /** Parked earlier than this. */
  readonly before?: Date | undefined;
  readonly code: string | undefined;
}

/** A dead letter and its id. */
export interface StoredLetter {
  readonly id: string;
  readonly letter: DeadLetter;
}

/** Most dead letters in memory at once. */
const ahead = 16;

/**
 * The selected dead letters, each device's in hub order.
 * @param passedOver called for each unreadable one
 */
export async function* chosenLetters(
  deadLetters: Pick<DeadLetters, 'ids' | 'read'>,
  { device, since, before, code }: Choice,
  passedOver: (problem: UnreadableDeadLetter) => void,
): AsyncGenerator<StoredLetter> {
  const isMeant = (letter: DeadLetter) =>
    (since === undefined || letter.parkedAt >= since) &&
    (before === undefined || letter.parkedAt < before) &&
    (code === undefined || letter.code === code);

  for await (const { id, found } of readAhead(await deadLetters.ids(device), deadLetters)) {
    if (found instanceof UnreadableDeadLetter) passedOver(found);
    else if (found instanceof Error) throw found;
    else if (found && isMeant(found)) yield { id, letter: found };
  }
}

async function* readAhead(ids: readonly string[], { read }: Pick<DeadLetters, 'read'>) {
  const underWay: ReturnType<typeof readOne>[] = [];
  const readOne = async (id: string) => ({ id, found: await read(id).catch((error: Error) => error) });
  for (const id of ids) {
    underWay.push(readOne(id));
    const next = underWay.length >= ahead ? underWay.shift() : undefined;
    if (next) yield await next;
  }
  for (const next of underWay) yield await next;
}
