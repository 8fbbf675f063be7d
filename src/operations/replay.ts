import { printable } from '@device-messaging/telemetry/text.ts';
import { inOrder } from '../concurrency/waiting.ts';
import type { Dispatch } from '../dispatch/dispatch.ts';
import type { DependenciesOf } from '../dispatch/recognition.ts';
import { noCharge } from '../engine/charge.ts';
import type { HubEvent } from '../protocol/event.ts';
import { type DeadLetter, folderOfId, UnreadableDeadLetter } from '../stores/deadLetter.ts';
import { type DeadLetters, LetterRefused } from '../stores/deadLetterStore.ts';
import { type Choice, list, say, select } from './deadLetterCommands.ts';

/** Results of replayed dead letters besides `handled`, for the operator. All stay but those that have gone. */
const otherResults = {
  failed: 'failed again and stay',
  /** An earlier one of the device failed or had no result, or a later one has been handled meanwhile. */
  heldBack: 'not tried, to keep the order of their device',
  left: 'left when stopped',
  /** Deleted during the replay by another process or the retention. */
  gone: 'gone meanwhile',
  unreadable: 'unreadable',
};

type ReplaySummary = Record<'handled' | keyof typeof otherResults, number>;

export function replaySummaryOf({ handled, ...others }: Readonly<ReplaySummary>): string {
  const names = (Object.keys(otherResults) as (keyof typeof otherResults)[]).filter((one) => others[one] > 0);
  return [`${handled} handled`, ...names.map((one) => `${others[one]} ${otherResults[one]}`)].join(', ');
}

export interface ReplayOptions {
  readonly dispatch: Dispatch;
  readonly dependenciesOf: DependenciesOf;
  readonly deadLetters: Pick<DeadLetters, 'ids' | 'read' | 'remove'>;
  /** The new dead letter of a message that failed again. */
  readonly failureOf: (event: HubEvent) => DeadLetter | undefined;
  /** When aborted, no further dead letter is started. */
  readonly stopping: AbortSignal;
  readonly width: number;
  progress(done: number, all: number): void;
  remark(text: string): void;
}

/** A dead letter is charged to nothing, and has no lane. */
const alone = { charge: noCharge, nextMayBegin() {}, failed() {} };

/** Of one dead letter. The device's next one is tried only after one of the first three. */
type ReplayResult = 'handled' | 'gone' | 'unreadable' | 'failed' | 'undecided';

/**
 * Handles dead letters again as if they came from the hub: each device's in hub order, several devices at once. Handled ones are deleted. One that
 * fails again stays with the later ones of its device; so do those of a device of which something newer was handled meanwhile (D283).
 */
export async function replay(ids: readonly string[], options: ReplayOptions): Promise<ReplaySummary> {
  const { dispatch, dependenciesOf, deadLetters, failureOf, stopping, width, progress, remark } = options;
  const counts: ReplaySummary = { handled: 0, failed: 0, heldBack: 0, left: 0, gone: 0, unreadable: 0 };
  const never = new AbortController().signal; // nothing cancels the handling of a dead letter
  let done = 0;

  async function handle(id: string, letter: DeadLetter): Promise<ReplayResult> {
    const { event, generation, deviceId, origin, attempts } = letter;
    const receivedMessage = { event, generation, deviceId, origin, attempts, redelivered: true };
    const dependencies = dependenciesOf(receivedMessage);
    if (dependencies?.areAvailable() === false && !(await dependencies.met(stopping))) return 'undecided';
    const isDone = await dispatch(receivedMessage, { ...alone, ended: never });
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

  /** One that others have handled since the replay began. */
  async function handledMeanwhile(newer: readonly string[], deviceId: string): Promise<string | undefined> {
    if (newer.length === 0) return undefined;
    const there = new Set(await deadLetters.ids(deviceId));
    return newer.find((one) => !there.has(one));
  }

  async function replayOne(id: string, newer: readonly string[]): Promise<ReplayResult> {
    let letter: DeadLetter | undefined;
    try {
      letter = await deadLetters.read(id);
      const handled = letter && (await handledMeanwhile(newer, letter.deviceId));
      if (handled !== undefined) {
        remark(`${id} is not tried: ${handled}, which is newer, has been handled meanwhile`);
        return 'undecided';
      }
    } catch (error) {
      remark((error as Error).message);
      return error instanceof UnreadableDeadLetter ? 'unreadable' : 'failed';
    }
    return letter === undefined ? 'gone' : handle(id, letter);
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

  const devices = new Map<string, string[]>();
  for (const id of ids) {
    const own = devices.get(folderOfId(id)) ?? [];
    devices.set(folderOfId(id), own);
    own.push(id);
  }
  await inOrder(width, [...devices.values()], replayDevice);
  return counts;
}

/** The store, with a record of what is parked during the replay. What cannot be written is not waited for: it is there as it was. */
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

interface Replaying {
  readonly isDryRun: boolean;
  /** Opens what handles messages, and parks them in the store. */
  open(store: DeadLetters): Promise<Pick<ReplayOptions, 'dispatch' | 'dependenciesOf'> & { close(): Promise<void> }>;
}

/** Devices whose dead letters are handled at once. */
const width = 16;
const progressEveryMs = 2_000;

/** @returns exit code: 1 when one was not handled */
export async function replayChosen(store: DeadLetters, choice: Choice, { isDryRun, open }: Replaying): Promise<number> {
  say('These older messages can overwrite what devices have sent since.');
  if (isDryRun) {
    say('Dry run: nothing is done. To be replayed:');
    return list(store, choice);
  }
  const ids: string[] = [];
  const passedOver = await select(store, choice, ({ id }) => ids.push(id));
  say(`${ids.length} dead letters to replay`);

  const { deadLetters, failureOf } = rememberingFailures(store);
  const handling = await open(deadLetters);
  const stopping = new AbortController();
  const stop = () => {
    if (stopping.signal.aborted) process.exit(130);
    say('stopping after the dead letters in work; once more to end at once');
    stopping.abort();
  };
  process.on('SIGINT', stop).on('SIGTERM', stop);
  let saidAt = 0;
  try {
    const replayed = await replay(ids, {
      ...{ ...handling, deadLetters, failureOf, width, stopping: stopping.signal },
      remark: (text) => say(printable(text)),
      progress(done, all) {
        if (performance.now() - saidAt < progressEveryMs) return;
        saidAt = performance.now();
        say(`${done} of ${all}`);
      },
    });
    say(replaySummaryOf(replayed));
    return replayed.handled + replayed.gone === ids.length && passedOver === 0 ? 0 : 1;
  } finally {
    process.off('SIGINT', stop).off('SIGTERM', stop);
    await handling.close();
  }
}
