import { nearest, printable, printableJson } from '@device-messaging/telemetry/text.ts';
import { resultCodes } from '../protocol/vocabulary.ts';
import { type DeadLetter, UnreadableDeadLetter } from '../stores/deadLetter.ts';
import type { DeadLetters } from '../stores/deadLetterStore.ts';

type Readable = Pick<DeadLetters, 'ids' | 'read'>;

/** A selection of dead letters; an undefined criterion matches all. Parked at `since` or later, and earlier than `before`. */
export interface Choice {
  readonly device?: string | undefined;
  readonly since?: Date | undefined;
  readonly before?: Date | undefined;
  readonly code?: string | undefined;
}

export type StoredLetter = { readonly id: string; readonly letter: DeadLetter };

/** The selection that the options of a command make. @throws Error with a sentence for the operator */
export function choiceOf(options: Partial<Record<keyof Choice, string | undefined>>): Choice {
  const { device, since, before, code } = options;
  // A misspelt code would select nothing, which looks as if there was nothing.
  if (code !== undefined && !Object.hasOwn(resultCodes, code))
    throw new Error(`there is no result code ${code}; the nearest is ${nearest(code, Object.keys(resultCodes))}`);
  return { device, since: timeOf('--since', since), before: timeOf('--before', before), code };
}

function timeOf(option: string, text: string | undefined): Date | undefined {
  const time = text === undefined ? undefined : new Date(text);
  if (Number.isNaN(time?.getTime())) throw new Error(`${option} must be a date, or a date and time`);
  return time;
}

const ahead = 16;

/** The selected dead letters, each device's in hub order. @param passedOver called for each unreadable one */
export async function* chosenLetters(
  store: Readable,
  { device, since, before, code }: Choice,
  passedOver: (problem: UnreadableDeadLetter) => void,
): AsyncGenerator<StoredLetter> {
  const isMeant = (letter: DeadLetter) =>
    (since === undefined || letter.parkedAt >= since) &&
    (before === undefined || letter.parkedAt < before) &&
    (code === undefined || letter.code === code);

  for await (const { id, found } of readAhead(await store.ids(device), store)) {
    if (found instanceof UnreadableDeadLetter) passedOver(found);
    else if (found instanceof Error) throw found;
    else if (found && isMeant(found)) yield { id, letter: found };
  }
}

async function* readAhead(ids: readonly string[], { read }: Readable) {
  const readOne = async (id: string) => ({ id, found: await read(id).catch((error: Error) => error) });
  const underWay: ReturnType<typeof readOne>[] = [];
  for (const id of ids) {
    underWay.push(readOne(id));
    const next = underWay.length >= ahead ? underWay.shift() : undefined;
    if (next) yield await next;
  }
  yield* underWay;
}

/** Goes through the selected dead letters, and names those that cannot be read. @returns how many */
export async function select(store: Readable, choice: Choice, each: (one: StoredLetter) => void): Promise<number> {
  let passedOver = 0;
  const letters = chosenLetters(store, choice, ({ message }) => {
    passedOver += 1;
    say(`passed over: ${printable(message)}`);
  });
  for await (const one of letters) each(one);
  return passedOver;
}

/** Tells the operator what is not part of the result. */
export const say = (text: string): boolean => process.stderr.write(`${text}\n`);

export async function list(store: Readable, choice: Choice): Promise<number> {
  let listed = 0;
  const passedOver = await select(store, choice, (one) => {
    listed += 1;
    process.stdout.write(`${lineOf(one)}\n`);
  });
  say(`${listed} dead letters`);
  return passedOver === 0 ? 0 : 1;
}

function lineOf({ id, letter }: StoredLetter): string {
  const { deviceId, code, details, attempts, parkedAt } = letter;
  const what = `${JSON.stringify(deviceId)}  ${messageIn(letter)}  ${code}  attempts ${attempts}  ${details}`;
  return `${id}  ${parkedAt.toISOString()}  ${printable(what)}`;
}

export const messageIn = ({ event }: DeadLetter): unknown =>
  event.properties?.['action'] ?? event.properties?.['eventType'];

export async function show(store: Pick<DeadLetters, 'read'>, id: string): Promise<number> {
  const letter = await store.read(id);
  if (letter === undefined) throw new Error('there is no dead letter of this id: `list` shows them');
  const { event, ...rest } = letter;
  const body = event.body instanceof Uint8Array ? Buffer.from(event.body).toString('utf8') : event.body;
  process.stdout.write(`${printableJson(JSON.stringify({ id, ...rest, event: { ...event, body } }, null, 2))}\n`);
  return 0;
}

const together = 16;

/**
 * Deletes dead letters for good, and prints a line for each.
 * @param which `ids`: those with these ids, also when they cannot be read; when empty, those of the choice
 * @throws Error without a selection: a forgotten option must not delete all of them
 */
export async function deleteLetters(
  store: Readable & Pick<DeadLetters, 'remove'>,
  which: Readonly<{ ids: readonly string[]; choice: Choice; isDryRun: boolean }>,
): Promise<number> {
  const { ids, choice, isDryRun } = which;
  const isChosen = Object.values(choice).some((one) => one !== undefined);
  if (ids.length > 0 && isChosen) throw new Error('delete takes ids or options, not both');
  if (ids.length === 0 && !isChosen)
    throw new Error('delete which ones? An id, --device, --before, --since or --code says so');
  const lines = new Map<string, string>();
  let missed = 0;
  if (ids.length > 0) {
    const there = new Set(await store.ids());
    const unknown = ids.filter((id) => !there.has(id));
    for (const id of unknown) say(`there is no dead letter ${JSON.stringify(id)}`);
    missed = unknown.length;
    for (const id of ids) if (there.has(id)) lines.set(id, id);
  } else missed = await select(store, choice, (one) => lines.set(one.id, lineOf(one)));

  const chosen = [...lines];
  for (let next = 0; next < chosen.length; next += together) {
    const some = chosen.slice(next, next + together);
    if (!isDryRun) await Promise.all(some.map(([id]) => store.remove(id)));
    for (const [, line] of some) process.stdout.write(`${line}\n`);
  }
  say(isDryRun ? `Dry run: ${lines.size} dead letters would be deleted` : `${lines.size} dead letters deleted`);
  return missed === 0 ? 0 : 1;
}
