import { within } from '../concurrency/within.ts';
import type { LogLines } from '../log/log.ts';
import { ForeignFile } from '../storage/boundedReads.ts';
import { type DeadLetter, folderOf, idOf, isLetterId, parse, print, UnreadableDeadLetter } from './deadLetter.ts';
import { createDeadLetterIndex, type DeadLetterLimits } from './deadLetterIndex.ts';
import { createTurns } from './keyedQueue.ts';
import type { Entry, Place } from './place.ts';

/** The dead-letter store (G4). */
export interface DeadLetters {
  /**
   * Stores a dead letter, and deletes the oldest ones beyond the limits: those of the device, then those of all. Calls run
   * concurrently.
   * @throws Error when it cannot be written, or is larger than all dead letters together may be
   */
  park(letter: DeadLetter): Promise<void>;
  /** All ids, or those of one device; each device's in hub order. */
  ids(deviceId?: string): Promise<string[]>;
  /**
   * @returns undefined when it does not exist
   * @throws UnreadableDeadLetter, or Error when the storage cannot be reached
   */
  read(id: string): Promise<DeadLetter | undefined>;
  /** No error when it does not exist. */
  remove(id: string): Promise<void>;
  /** Lists the store, which other processes change too, and deletes what is too old or beyond the limits. */
  tidy(): Promise<void>;
}

export interface DeadLetterOptions {
  /** Opened at the first use. */
  readonly open: () => Promise<Place>;
  readonly limits: DeadLetterLimits;
  readonly log: Pick<LogLines, 'warn'>;
  readonly now: () => number;
}

/** More than a message of the hub's greatest size takes, however it is escaped. */
const mostLetterBytes = 8 * 1024 * 1024;

/** Longest wait of parking for the first listing and for deletions; then it continues without them. */
const patienceMs = 3_000;

/** The store is listed again after this time, or when the dead letters have grown by this share. */
const lookEveryMs = 10 * 60_000;
const lookEveryShare = 0.1;
const fewestBetweenLooks = 1_000;

export function createDeadLetters({ open, limits, log, now }: DeadLetterOptions): DeadLetters {
  const index = createDeadLetterIndex(limits, now);
  /** Orders the calls for each id, so that a deletion does not remove a dead letter that was written after it. */
  const turns = createTurns();
  /** Ids that have changed during the listing. */
  let changing: Set<string> | undefined;
  let looking: Promise<void> | undefined;
  let firstLook: Promise<void> | undefined;
  let place: Promise<Place> | undefined;
  let lookedAt = 0;
  let parkedSince = 0;

  function opened(): Promise<Place> {
    place ??= open().catch((error) => {
      place = undefined;
      throw error;
    });
    return place;
  }

  function inTurn<T>(id: string, work: (place: Place) => Promise<T>): Promise<T> {
    changing?.add(id);
    return turns.run(id, async () => work(await opened()));
  }

  /** Never rejects: a failed deletion must not prevent parking. */
  async function makeRoom(ids: readonly string[]): Promise<void> {
    const removals = ids.map((id) => inTurn(id, (at) => at.remove(id)));
    const [failed] = (await Promise.allSettled(removals)).filter((one) => one.status === 'rejected');
    if (failed) log.warn({ err: failed.reason }, 'dead letters cannot be deleted');
  }

  /** Lists the store into the index. For ids that change during the listing, the index is more recent. */
  async function look(): Promise<void> {
    lookedAt = now();
    parkedSince = 0;
    const ours = new Set(turns.busy());
    changing = ours;
    try {
      const found: Entry[] = [];
      for await (const entry of (await opened()).entries()) if (isOurs(entry)) found.push(entry);
      const others = found.filter(({ id }) => !ours.has(id));
      const known = [...ours].map((id) => index.get(id)).filter((entry) => entry !== undefined);
      changing = undefined;
      await makeRoom(index.fill([...others, ...known]));
    } finally {
      changing = undefined;
    }
  }

  function lookOnce(): Promise<void> {
    looking ??= look().finally(() => {
      looking = undefined;
    });
    return looking;
  }

  const lookUnasked = () =>
    lookOnce().catch((error) => log.warn({ err: error }, 'dead letters cannot be counted; their limits may not hold'));

  /** Waits for the first listing, but only for a limited time: a slow listing must not prevent parking. */
  async function stockTaken(): Promise<void> {
    const isDue = parkedSince >= Math.max(fewestBetweenLooks, index.size() * lookEveryShare);
    if (firstLook === undefined) firstLook = patiently(lookUnasked());
    else if (isDue || now() - lookedAt > lookEveryMs) void lookUnasked();
    await firstLook;
  }

  async function write(id: string, text: string): Promise<void> {
    const entry = { id, bytes: Buffer.byteLength(text), at: now() };
    parkedSince += 1;
    const room = makeRoom(index.add(entry)); // before any await, so that concurrent calls count this entry
    try {
      await inTurn(id, async (at) => {
        await patiently(room);
        await at.write(id, text);
      });
    } catch (error) {
      if (index.get(id) === entry) index.drop(id);
      throw error;
    }
  }

  return {
    async park(letter) {
      const text = print(letter);
      const bytes = Buffer.byteLength(text);
      if (bytes > limits.maxBytes) {
        throw new Error(`a dead letter of ${bytes} bytes exceeds DEAD_LETTERS_MAX_BYTES`);
      }
      await stockTaken();
      await write(idOf(letter), text);
    },
    async ids(deviceId) {
      const ids: string[] = [];
      const folder = deviceId === undefined ? undefined : folderOf(deviceId);
      for await (const { id } of (await opened()).entries(folder)) ids.push(id);
      return ids.sort();
    },
    async read(id) {
      if (!isLetterId(id)) throw new UnreadableDeadLetter(`${id} is no name of a dead letter`);
      const text = await (await opened()).read(id, mostLetterBytes).catch(unreadableIfForeign);
      return text === undefined ? undefined : parse(text, id);
    },
    async remove(id) {
      index.drop(id);
      await inTurn(id, (at) => at.remove(id));
    },
    async tidy() {
      await lookOnce();
    },
  };
}

/** What is longer is not counted: it must not drive dead letters out. */
const isOurs = ({ id, bytes }: Entry): boolean => isLetterId(id) && bytes <= mostLetterBytes;

function unreadableIfForeign(error: Error): never {
  throw error instanceof ForeignFile ? new UnreadableDeadLetter(error.message) : error;
}

const patiently = (work: Promise<void>): Promise<void> => within(work, patienceMs).catch(() => undefined);
