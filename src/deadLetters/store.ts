import { within } from '../concurrency/within.ts';
import type { Log } from '../log/log.ts';
import { type DeadLetter, folderOf, idOf, isLetterId, parse, print, UnreadableDeadLetter } from './deadLetter.ts';
import { createDeadLetterIndex, type DeadLetterLimits } from './deadLetterIndex.ts';
import { createTurns } from './keyedQueue.ts';
import type { Entry, Place } from './place.ts';

/** The dead-letter store (G4). */
export interface DeadLetters {
  /**
   * Parks a dead letter; the oldest make room for it: of the device, then of all. As many at once as there are.
   * @throws Error when it cannot be written, or is larger than all dead letters together may be
   */
  park(letter: DeadLetter): Promise<void>;
  /** Of everything that lies there, or of one device; each device's dead letters in hub order. */
  ids(deviceId?: string): Promise<string[]>;
  /**
   * @returns undefined when it is gone
   * @throws UnreadableLetter, or Error when the place cannot be reached
   */
  read(id: string): Promise<DeadLetter | undefined>;
  /** One that is gone already is all right. */
  remove(id: string): Promise<void>;
  /** Looks at what is there, which others change too, and deletes what goes beyond the limits or has become too old. */
  tidy(): Promise<void>;
}

export interface DeadLetterOptions {
  /** Opened at the first use. */
  readonly open: () => Promise<Place>;
  readonly limits: DeadLetterLimits;
  readonly log: Pick<Log, 'warn'>;
  readonly now: () => number;
}

/** Parking waits so long for the first look at the place, and for room to be made; then it goes on without. */
const patienceMs = 3_000;

/** The place is looked at again after this time, or when this share of what it holds has been parked. */
const lookEveryMs = 10 * 60_000;
const lookEveryShare = 0.1;
const fewestBetweenLooks = 1_000;

export function createDeadLetters({ open, limits, log, now }: DeadLetterOptions): DeadLetters {
  const index = createDeadLetterIndex(limits, now);
  /** A dead letter that makes room must not take its own successor with it. */
  const turns = createTurns();
  /** Ids that have changed while somebody looks. */
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

  /** Never rejects: a dead letter that cannot be deleted must not be the reason to lose another. */
  async function makeRoom(ids: readonly string[]): Promise<void> {
    const removals = ids.map((id) => inTurn(id, (at) => at.remove(id)));
    const [failed] = (await Promise.allSettled(removals)).filter((one) => one.status === 'rejected');
    if (failed) log.warn({ err: failed.reason }, 'dead letters cannot be deleted');
  }

  /** Takes stock. What changes meanwhile is known better from here than from the place. */
  async function look(): Promise<void> {
    lookedAt = now();
    parkedSince = 0;
    const ours = new Set(turns.busy());
    changing = ours;
    try {
      const found: Entry[] = [];
      for await (const entry of (await opened()).entries()) if (isLetterId(entry.id)) found.push(entry);
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

  /** Whoever comes first waits; a place that is slow to tell what it holds must not keep dead letters from being parked. */
  async function stockTaken(): Promise<void> {
    const isDue = parkedSince >= Math.max(fewestBetweenLooks, index.size() * lookEveryShare);
    if (firstLook === undefined) firstLook = patiently(lookUnasked());
    else if (isDue || now() - lookedAt > lookEveryMs) void lookUnasked();
    await firstLook;
  }

  async function write(id: string, text: string): Promise<void> {
    const entry = { id, bytes: Buffer.byteLength(text), at: now() };
    parkedSince += 1;
    const room = makeRoom(index.add(entry)); // at once: those that park beside this one count it
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
        throw new Error(`a dead letter of ${bytes} bytes is more than all may have, DEAD_LETTERS_MAX_BYTES`);
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
      const text = await (await opened()).read(id);
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

const patiently = (work: Promise<void>): Promise<void> => within(work, patienceMs).catch(() => undefined);
