import { lazy, singleFlight, within } from '../concurrency/waiting.ts';
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
import { createKnownLetters, type DeadLetterLimits, excessOf, fitsQuota, nothing, withOne } from './letterLimits.ts';

/** A limit, or the store itself, does not allow a dead letter, however often it is tried (G4). */
export class LetterRefused extends Error {
  override readonly name = 'LetterRefused';
  readonly todo: string;

  constructor(message: string, todo: string, options?: ErrorOptions) {
    super(message, options);
    this.todo = todo;
  }
}

interface DeadLetterOptions {
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
/** Devices of a partition that are looked at one by one, some 300 bytes for each. */
const mostDevices = 30_000;
const none: ReadonlySet<string> = new Set();

interface Session {
  /** When the last former owner can write no more dead letters, as `performance.now()`. Undefined until a message was handled. */
  silentFrom?: number;
  /** By folder, what a device had when its first message was handled: a former owner has one message of a device in work. */
  readonly ofDevices: Map<string, Promise<ReadonlySet<string>>>;
}

export type DeadLetters = ReturnType<typeof createDeadLetters>;

/** The dead-letter store (G4). */
export function createDeadLetters({ open, limits, log, now }: DeadLetterOptions) {
  const opened = lazy(open);
  /** By partition (D281). */
  const sessions = new Map<string, Session>();
  /** The end of the last call for each id: they run in order, so that a deletion does not remove a dead letter that was written after it. */
  const turns = new Map<string, Promise<void>>();
  /** As of the last listing and of what has changed here since. */
  let known = createKnownLetters();
  let changing: Set<string> | undefined;
  let room: Promise<void> = Promise.resolve();
  /** When the last listing began, and the one that `known` is from; as `performance.now()`. */
  let lookedAt = Number.NEGATIVE_INFINITY;
  let knownSince = Number.NEGATIVE_INFINITY;
  let lookFailedAt = Number.NEGATIVE_INFINITY;
  let parked = nothing;

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

  /** Until the next listing, the storage is asked. */
  function forget() {
    known = createKnownLetters(known.among(turns));
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

  /** Deletes what is beyond the limits, but nothing that changes during the listing. */
  const look = singleFlight(async () => {
    const began = performance.now();
    lookedAt = began;
    parked = nothing;
    const ours = new Set(turns.keys());
    changing = ours;
    try {
      const found = await (await opened()).entries();
      const others = found.filter((entry) => isOurs(entry) && !ours.has(entry.id));
      known = createKnownLetters([...known.among(ours), ...others]);
      knownSince = began;
      await clear(excessOf(others, limits, now()));
    } catch (error) {
      forget();
      throw error;
    } finally {
      changing = undefined;
    }
  });

  const cannotBeCounted = (err: unknown) =>
    log.warn({ err, ...storeFieldsOf(err) }, 'dead letters cannot be counted; their limits may not hold');
  const lookUnasked = () => look().catch(cannotBeCounted);

  /** Parking waits while the store is listed and cleared, but only for a limited time: a slow listing must not prevent it. */
  function makeRoom(): void {
    room = within(lookUnasked(), patienceMs).catch(() => undefined);
  }

  const isUncounted = () => knownSince === Number.NEGATIVE_INFINITY;
  const isLookDue = () => performance.now() - lookedAt > lookAgainMs;

  const isChanged = (id: string) => known.bytesOf(id) !== undefined || turns.has(id);

  /** By a listing that began when former owners could write no more, which it begins when it is due; before, by one of the device. */
  async function isKnownToBeAbsent(id: string): Promise<boolean> {
    const session = sessions.get(partitionOfId(id));
    if (session === undefined) return false;
    // It has handled a message: the hub sends none to a former owner any more.
    session.silentFrom ??= performance.now() + parkingMs;
    const { silentFrom, ofDevices } = session;
    if (performance.now() < silentFrom) {
      const found = await idsOf(folderOfId(id), ofDevices);
      return found !== undefined && !found.has(id) && !isChanged(id);
    }
    ofDevices.clear();
    if (knownSince >= silentFrom) return !isChanged(id);
    if (lookedAt < silentFrom || isLookDue()) void lookUnasked();
    return false;
  }

  /** As of its first look; undefined when one has failed lately, or there are too many devices. */
  async function idsOf(folder: string, ofDevices: Session['ofDevices']): Promise<ReadonlySet<string> | undefined> {
    if (!ofDevices.has(folder)) {
      if (ofDevices.size >= mostDevices || performance.now() - lookFailedAt < lookAgainMs) return undefined;
      const found = opened().then((at) => at.entries(folder));
      ofDevices.set(folder, found.then(idsIn));
    }
    return ofDevices.get(folder)?.catch(() => {
      lookFailedAt = performance.now();
      return undefined;
    });
  }

  /** Others may have deleted some of the device. */
  async function fitsStored(id: string, bytes: number): Promise<boolean> {
    const stored = await (await opened()).entries(folderOfId(id));
    if (stored.some((entry) => entry.id === id)) return true;
    return fitsQuota(bytes, createKnownLetters(stored.filter(isOurs)).ofDevice(id), limits);
  }

  return {
    /**
     * From time to time the oldest beyond the limits of all are deleted (D282). A store that cannot be listed takes letters beyond a quota.
     * @throws LetterRefused for a device with as many as it may have (D280), a letter that is too large, or a store that will not take it;
     * any other error when it cannot be written at the moment
     */
    async park(letter: DeadLetter): Promise<void> {
      const id = idOf(letter);
      const [text, bytes] = printed(letter, limits);
      if (isUncounted() && isLookDue()) makeRoom();
      await room;
      const isBeyond = !isUncounted() && !fitsQuota(bytes, known.ofDevice(id), limits);
      if (isBeyond && !(await within(fitsStored(id, bytes), patienceMs).catch(() => true)))
        throw new LetterRefused(
          'the device has as many dead letters as one device may have, in number or in bytes',
          'replay or delete dead letters of the device',
        );
      known.add(id, bytes); // also if it fails: it may have been written nevertheless
      await inTurn(id, (at) => at.write(id, text)).catch((cause) => {
        if (!refusesContent(cause)) throw cause;
        throw new LetterRefused('the store refuses this dead letter', 'take the message from the hub', { cause });
      });
      parked = withOne(parked, bytes);
      const isDue =
        parked.letters > limits.maxLetters * lookEveryShare || parked.bytes > limits.maxBytes * lookEveryShare;
      if (isDue) makeRoom();
    },
    /** All ids, or those of one device; each device's in hub order. */
    async ids(deviceId?: string): Promise<string[]> {
      const found = await (await opened()).entries(deviceId === undefined ? undefined : folderOf(deviceId));
      return found.map(({ id }) => id).sort();
    },
    /** Undefined when it does not exist. @throws UnreadableDeadLetter, or Error when the storage cannot be reached */
    async read(id: string): Promise<DeadLetter | undefined> {
      if (!isLetterId(id)) throw new UnreadableDeadLetter(`${id} is no name of a dead letter`);
      const text = await (await opened()).read(id);
      return text === undefined ? undefined : parse(text, id);
    },
    /** No error when it does not exist. Does not ask the storage when this process knows that it has none (D281). */
    async remove(id: string): Promise<void> {
      if (await isKnownToBeAbsent(id)) return;
      const bytes = known.bytesOf(id) ?? 0;
      known.delete(id);
      await inTurn(id, (at) => at.remove(id)).catch((error) => {
        known.add(id, bytes); // it is there still, as far as is known
        throw error;
      });
    },
    /** Lists the store, which other processes change too, and deletes what is too old or beyond the limits. */
    tidy: look,
    /** A session of the partition begins: its former owner may still be writing dead letters. */
    takenOver: (partition: string): void => void sessions.set(partition, { ofDevices: new Map() }),
  };
}

const idsIn = (found: readonly LetterInfo[]) => (found.length === 0 ? none : new Set(found.map(({ id }) => id)));

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
