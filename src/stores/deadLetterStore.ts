import { within } from '../concurrency/waiting.ts';
import type { LogLines } from '../observing/log.ts';
import { refusesContent, storeFieldsOf } from '../observing/storeFailure.ts';
import {
  type DeadLetter,
  folderOf,
  folderOfId,
  idOf,
  isLetterId,
  type LetterInfo,
  type LetterStorage,
  mostLetterBytes,
  parse,
  partitionOfId,
  print,
  UnreadableDeadLetter,
} from './deadLetter.ts';
import { createKnownLetters, type DeadLetterLimits, excessOf, fitsQuota } from './letterLimits.ts';
import { ForeignFile } from './textFiles.ts';

/** A limit, or the store itself, does not allow a dead letter, however often it is tried (G4). */
export class LetterRefused extends Error {
  override readonly name = 'LetterRefused';
  /** For the operator. */
  readonly todo: string;

  constructor(message: string, todo: string, options?: ErrorOptions) {
    super(message, options);
    this.todo = todo;
  }
}

/** The dead-letter store (G4). */
export interface DeadLetters {
  /**
   * Stores a dead letter. From time to time the oldest ones beyond the limits of all are deleted (D282). Calls run concurrently.
   * @throws LetterRefused when its device has as many as it may have (D280), and when it is too large; any other error when it
   * cannot be written at the moment
   */
  park(letter: DeadLetter): Promise<void>;
  /** All ids, or those of one device; each device's in hub order. */
  ids(deviceId?: string): Promise<string[]>;
  /**
   * @returns undefined when it does not exist
   * @throws UnreadableDeadLetter, or Error when the storage cannot be reached
   */
  read(id: string): Promise<DeadLetter | undefined>;
  /** No error when it does not exist. Does not ask the storage when this process knows that it has none (D281). */
  remove(id: string): Promise<void>;
  /** Lists the store, which other processes change too, and deletes what is too old or beyond the limits. */
  tidy(): Promise<void>;
  /** A session of the partition begins: its former owner may still be writing dead letters. */
  takenOver(partition: string): void;
}

export interface DeadLetterOptions {
  /** Opened at the first use. */
  readonly open: () => Promise<LetterStorage>;
  readonly limits: DeadLetterLimits;
  readonly log: Pick<LogLines, 'warn'>;
  readonly now: () => number;
}

/** Longest wait of parking for a listing and its deletions; then it continues without them. */
const patienceMs = 3_000;

/** The store is listed again when this share of a limit has been parked (D282). */
const lookEveryShare = 0.1;

/** A listing that failed is tried again after this time. */
const lookAgainMs = 60_000;

/** More than it takes to park a message that a former owner had answered when it lost the partition. */
const parkingMs = 20_000;

export function createDeadLetters({ open, limits, log, now }: DeadLetterOptions): DeadLetters {
  /**
   * By partition, when the last of its former owners can write no more dead letters, as `performance.now()` (D281). Undefined until
   * its session has handled a message.
   */
  const silence = new Map<string, number | undefined>();
  /** The end of the last call for each id: they run in order, so that a deletion does not remove a dead letter that was written after it. */
  const turns = new Map<string, Promise<void>>();
  /** As of the last listing and of what has changed here since. */
  let known = createKnownLetters();
  /** Ids that have changed during the listing. */
  let changing: Set<string> | undefined;
  let looking: Promise<void> | undefined;
  /** Parking waits for it. */
  let room: Promise<void> = Promise.resolve();
  let place: Promise<LetterStorage> | undefined;
  /** When the last listing began, and the one that `known` is from; as `performance.now()`. */
  let lookedAt = Number.NEGATIVE_INFINITY;
  let knownSince = Number.NEGATIVE_INFINITY;
  /** Parked since the last listing. */
  let parked = { letters: 0, bytes: 0 };

  function opened(): Promise<LetterStorage> {
    place ??= open().catch((error) => {
      place = undefined;
      throw error;
    });
    return place;
  }

  /** Settles as the work does. Later work runs even after a failure. */
  function inTurn(id: string, work: (place: LetterStorage) => Promise<void>): Promise<void> {
    changing?.add(id);
    const turn = (turns.get(id) ?? Promise.resolve()).then(async () => work(await opened()));
    const end = () => {
      if (turns.get(id) === ended) turns.delete(id);
    };
    const ended = turn.then(end, end);
    turns.set(id, ended);
    return turn;
  }

  function knownAmong(ids: Iterable<string>): Pick<LetterInfo, 'id' | 'bytes'>[] {
    return [...ids].flatMap((id) => {
      const bytes = known.bytesOf(id);
      return bytes === undefined ? [] : [{ id, bytes }];
    });
  }

  /** Until the next listing, the storage is asked. */
  function forget() {
    known = createKnownLetters(knownAmong(turns.keys()));
    knownSince = Number.NEGATIVE_INFINITY;
  }

  /** Never rejects: a failed deletion must not prevent parking. */
  async function clear(ids: readonly string[]): Promise<void> {
    const removals = ids.map((id) => {
      known.delete(id);
      return inTurn(id, (at) => at.remove(id));
    });
    const [failed] = (await Promise.allSettled(removals)).filter((one) => one.status === 'rejected');
    if (failed === undefined) return;
    forget();
    log.warn({ err: failed.reason, ...storeFieldsOf(failed.reason) }, 'dead letters cannot be deleted');
  }

  /** Lists the store, and deletes what is beyond the limits, but nothing that changes during the listing. */
  async function list(): Promise<void> {
    const began = performance.now();
    lookedAt = began;
    parked = { letters: 0, bytes: 0 };
    const ours = new Set(turns.keys());
    changing = ours;
    try {
      const found = await (await opened()).entries();
      const others = found.filter((entry) => isOurs(entry) && !ours.has(entry.id));
      known = createKnownLetters([...knownAmong(ours), ...others]);
      knownSince = began;
      await clear(excessOf(others, limits, now()));
    } catch (error) {
      forget();
      throw error;
    } finally {
      changing = undefined;
    }
  }

  function look(): Promise<void> {
    looking ??= list().finally(() => {
      looking = undefined;
    });
    return looking;
  }

  const lookUnasked = () =>
    look().catch((error) =>
      log.warn({ err: error, ...storeFieldsOf(error) }, 'dead letters cannot be counted; their limits may not hold'),
    );

  /** Parking waits while the store is listed and cleared, but only for a limited time: a slow listing must not prevent it. */
  function makeRoom(): void {
    room = within(lookUnasked(), patienceMs).catch(() => undefined);
  }

  function count(bytes: number): void {
    parked.letters += 1;
    parked.bytes += bytes;
    const isDue =
      parked.letters > limits.maxLetters * lookEveryShare || parked.bytes > limits.maxBytes * lookEveryShare;
    if (isDue) makeRoom();
  }

  const isUncounted = () => knownSince === Number.NEGATIVE_INFINITY;

  /** Undefined without a session. Asked when the session has handled a message: the hub sends none to a former owner any more. */
  function silentFrom(partition: string): number | undefined {
    if (!silence.has(partition)) return undefined;
    const silent = silence.get(partition) ?? performance.now() + parkingMs;
    silence.set(partition, silent);
    return silent;
  }

  /** Only when a listing has begun after the last owner's writing has ended; begins one that is due. */
  function isKnownToBeAbsent(id: string): boolean {
    const silent = silentFrom(partitionOfId(id));
    if (silent === undefined || performance.now() < silent) return false;
    if (knownSince >= silent) return known.bytesOf(id) === undefined && !turns.has(id);
    if (lookedAt < silent || performance.now() - lookedAt > lookAgainMs) void lookUnasked();
    return false;
  }

  async function fitsStored(id: string, bytes: number): Promise<boolean> {
    const stored = await (await opened()).entries(folderOfId(id));
    if (stored.some((entry) => entry.id === id)) return true;
    const own = createKnownLetters(stored.filter(isOurs)).ofDevice(folderOfId(id));
    return fitsQuota(bytes, own, limits);
  }

  /**
   * Others may have deleted some of the device. A store that cannot be listed takes dead letters beyond the quota.
   * @throws LetterRefused
   */
  async function checkStored(id: string, bytes: number): Promise<void> {
    if (await within(fitsStored(id, bytes), patienceMs).catch(() => true)) return;
    throw new LetterRefused(
      'the device has as many dead letters as one device may have, in number or in bytes',
      'replay or delete dead letters of the device',
    );
  }

  return {
    async park(letter) {
      const id = idOf(letter);
      const [text, bytes] = printed(letter, limits);
      if (isUncounted() && performance.now() - lookedAt > lookAgainMs) makeRoom();
      await room;
      if (!isUncounted() && !fitsQuota(bytes, known.ofDevice(folderOfId(id)), limits)) await checkStored(id, bytes);
      known.add(id, bytes); // also if it fails: it may have been written nevertheless
      await inTurn(id, (at) => at.write(id, text)).catch(refusedIfContent);
      count(bytes);
    },
    async ids(deviceId) {
      const folder = deviceId === undefined ? undefined : folderOf(deviceId);
      const found = await (await opened()).entries(folder);
      return found.map(({ id }) => id).sort();
    },
    async read(id) {
      if (!isLetterId(id)) throw new UnreadableDeadLetter(`${id} is no name of a dead letter`);
      const text = await (await opened()).read(id).catch(unreadableIfForeign);
      return text === undefined ? undefined : parse(text, id);
    },
    async remove(id) {
      if (isKnownToBeAbsent(id)) return;
      const bytes = known.bytesOf(id) ?? 0;
      known.delete(id);
      await inTurn(id, (at) => at.remove(id)).catch((error) => {
        known.add(id, bytes); // it is there still, as far as is known
        throw error;
      });
    },
    tidy: look,
    takenOver: (partition) => void silence.set(partition, undefined),
  };
}

/** Longer entries are not counted: they must not cause the deletion of dead letters. */
const isOurs = ({ id, bytes }: LetterInfo): boolean => isLetterId(id) && bytes <= mostLetterBytes;

/** @throws LetterRefused: another attempt would fail, too */
function printed(letter: DeadLetter, { maxBytes }: DeadLetterLimits): readonly [text: string, bytes: number] {
  let text: string;
  try {
    text = print(letter);
  } catch (cause) {
    throw new LetterRefused('the message cannot be written as a dead letter', 'report this as a defect', { cause });
  }
  const bytes = Buffer.byteLength(text);
  const tooLarge = `a dead letter of ${bytes} bytes exceeds`;
  if (bytes > maxBytes) throw new LetterRefused(`${tooLarge} DEAD_LETTERS_MAX_BYTES`, 'raise DEAD_LETTERS_MAX_BYTES');
  if (bytes > mostLetterBytes)
    throw new LetterRefused(`${tooLarge} the ${mostLetterBytes} that are read again`, 'take the message from the hub');
  return [text, bytes];
}

/** @throws LetterRefused when the store will not take this dead letter, else the error itself */
function refusedIfContent(error: Error): never {
  if (!refusesContent(error)) throw error;
  throw new LetterRefused('the store refuses this dead letter', 'take the message from the hub', { cause: error });
}

function unreadableIfForeign(error: Error): never {
  throw error instanceof ForeignFile ? new UnreadableDeadLetter(error.message) : error;
}
