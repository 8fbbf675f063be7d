import { type DeadLetter, folderOfId, UnreadableDeadLetter } from '../../deadLetters/deadLetter.ts';
import { type DeadLetters, LetterRefused } from '../../deadLetters/deadLetterStore.ts';
import type { Dispatch } from '../../dispatch/dispatch.ts';
import type { RequirementOf } from '../../dispatch/recognition.ts';
import type { HubEvent } from '../../protocol/event.ts';

/** The numbers of replayed dead letters, by result. */
export interface ReplaySummary {
  /** Handled and deleted. */
  handled: number;
  /** Failed again because of the service or a backend; they stay. */
  failed: number;
  /**
   * Not tried, because an earlier one of their device failed or had no result, or a later one has been handled meanwhile;
   * they stay.
   */
  heldBack: number;
  /** Not tried, because the replay was stopped; they stay. */
  left: number;
  /** Deleted during the replay by another process or the retention. */
  gone: number;
  /** Not readable; they stay. */
  unreadable: number;
}

export interface ReplayOptions {
  readonly dispatch: Dispatch;
  /** The replay waits for backends that are down. */
  readonly requirementOf: RequirementOf;
  readonly deadLetters: Pick<DeadLetters, 'ids' | 'read' | 'remove'>;
  /** The new dead letter of a message that failed again. */
  readonly failureOf: (event: HubEvent) => DeadLetter | undefined;
  /** When aborted, no further dead letter is started. */
  readonly stopping: AbortSignal;
  /** Most devices at once. */
  readonly width: number;
  progress(done: number, all: number): void;
  /** Tells the operator about a single dead letter. */
  remark(text: string): void;
}

/** A dead letter is charged to nothing, and has no lane. */
const alone = {
  releaseBytes() {},
  waiting() {},
  answering() {},
  parking() {},
  sleeps() {},
  wakes() {},
  nextMayBegin() {},
  takeForAnswers: () => undefined,
  giveFromAnswers() {},
};

class Overtaken extends Error {
  override readonly name = 'Overtaken';
}

/** The result of one dead letter. The device's next one is tried only after one of the first three. */
type ReplayResult = 'handled' | 'gone' | 'unreadable' | 'failed' | 'undecided';

/**
 * Handles dead letters again as if they came from the hub: each device's in hub order, several devices at once. Handled
 * ones are deleted. One that fails again stays, and with it the later ones of its device. So do those of a device of which
 * something newer has been handled meanwhile (D283).
 */
export async function replay(ids: readonly string[], options: ReplayOptions): Promise<ReplaySummary> {
  const { dispatch, requirementOf, deadLetters, failureOf, stopping, width, progress, remark } = options;
  const counts: ReplaySummary = { handled: 0, failed: 0, heldBack: 0, left: 0, gone: 0, unreadable: 0 };
  const never = new AbortController().signal; // nothing cancels the handling of a dead letter
  let done = 0;

  async function handle(id: string, letter: DeadLetter): Promise<ReplayResult> {
    const { event, generation, deviceId, origin, attempts } = letter;
    const arrival = { event, generation, deviceId, origin, attempts, redelivered: true };
    const requirement = requirementOf(arrival);
    if (requirement?.isMet() === false && !(await requirement.met(stopping))) return 'undecided';
    const isDone = await dispatch(arrival, { ...alone, ended: never });
    const failure = failureOf(event);
    if (failure) {
      remark(`${id} failed again: ${failure.code}, ${failure.details}`);
      return 'failed';
    }
    if (!isDone) return 'undecided';
    await deadLetters.remove(id).catch((error: Error) => {
      remark(`${id} has been handled, but stays: ${error.message}`);
    });
    return 'handled';
  }

  /** @throws Overtaken when others have handled a newer message of the device since the replay began */
  async function readUnlessOvertaken(id: string, newer: readonly string[]): Promise<DeadLetter | undefined> {
    const letter = await deadLetters.read(id);
    if (letter === undefined || newer.length === 0) return letter;
    const there = new Set(await deadLetters.ids(letter.deviceId));
    const handled = newer.find((one) => !there.has(one));
    if (handled === undefined) return letter;
    throw new Overtaken(`${id} is not tried: ${handled}, which is newer, has been handled meanwhile`);
  }

  async function replayOne(id: string, newer: readonly string[]): Promise<ReplayResult> {
    const found = await readUnlessOvertaken(id, newer).catch((error: Error) => error);
    if (found === undefined) return 'gone';
    if (!(found instanceof Error)) return handle(id, found);
    remark(found.message);
    if (found instanceof Overtaken) return 'undecided';
    return found instanceof UnreadableDeadLetter ? 'unreadable' : 'failed';
  }

  async function replayDevice(own: readonly string[]): Promise<void> {
    for (const [index, id] of own.entries()) {
      const fate = stopping.aborted ? 'undecided' : await replayOne(id, own.slice(index + 1));
      const rest = own.length - index;
      if (fate === 'undecided') {
        counts[stopping.aborted ? 'left' : 'heldBack'] += rest;
        return;
      }
      counts[fate] += 1;
      if (fate === 'failed') counts.heldBack += rest - 1;
      done += fate === 'failed' ? rest : 1;
      progress(done, ids.length);
      if (fate === 'failed') return;
    }
  }

  const waiting = byDevice(ids).values();
  async function replayDevices(): Promise<void> {
    for (const own of waiting) await replayDevice(own);
  }
  await Promise.all(Array.from({ length: width }, replayDevices));
  return counts;
}

/** Each device's dead letters in hub order, which is that of their ids. */
function byDevice(ids: readonly string[]): Map<string, string[]> {
  const devices = new Map<string, string[]>();
  for (const id of ids) {
    const own = devices.get(folderOfId(id));
    if (own) own.push(id);
    else devices.set(folderOfId(id), [id]);
  }
  return devices;
}

/**
 * The store, with a record of the dead letters that are parked during the replay. One that cannot be written is not waited for:
 * it is there as it was.
 */
export function rememberingFailures(deadLetters: DeadLetters) {
  const failures = new WeakMap<HubEvent, DeadLetter>();
  return {
    failureOf: (event: HubEvent): DeadLetter | undefined => failures.get(event),
    deadLetters: {
      ...deadLetters,
      park(letter: DeadLetter): Promise<void> {
        failures.set(letter.event, letter);
        return deadLetters.park(letter).catch((cause) => {
          throw new LetterRefused('the dead letter stays as it was', 'repair the store', { cause });
        });
      },
    },
  };
}
