import { pause } from '../../concurrency/pause.ts';
import type { LogLines } from '../../log/log.ts';
import { type Meter, noMeter } from '../../metrics/meter.ts';
import { type CrashRecord, decodeCrashRecord, isQuarantine, maxSuspects, type Suspicion } from './crashRecord.ts';
import { type PartitionSuspects, patienceMs, type SuspectsInWork } from './suspectsInWork.ts';
import { createTurns, type Turn } from './turns.ts';

/**
 * For a session after unclean shutdowns (G4, D29). A suspect is the first message of a device in the session, if it may have
 * been in flight at the last unclean shutdown. Suspects are recorded before they begin, so that after another one it is known
 * which were in work. All other messages are handled beside them.
 */
export interface Quarantine {
  /** Whether the message, the first of its lane, has to wait for its turn. */
  isSuspect(deviceId: string, sequenceNumber: number): boolean;
  /** Resolves with true when it is the suspect's turn, with false when the partition drains. */
  turnOf(suspect: Suspect): Promise<boolean>;
  /** The message does not begin now, and waits again. */
  putBack(deviceId: string, sequenceNumber: number): void;
  /**
   * A message has ended.
   * @returns undefined when it was no suspect; else resolves when a checkpoint contains its end. The device's next message
   * begins after that: it is no suspect, and a crash that it causes must not be blamed on this one
   */
  ended(sequenceNumber: number): Promise<void> | undefined;
  fateOf(sequenceNumber: number): Fate;
  isInWork(sequenceNumber: number): boolean;
  /** All that is left of the message are replies that wait for full queues (C4): it leaves work, and its device still waits for `ended`. */
  sleeps(sequenceNumber: number): void;
  /** Suspects that wait or are in work. */
  suspects(): number;
}

export interface Suspect {
  readonly deviceId: string;
  readonly sequenceNumber: number;
  /** Whether it has begun and still waits for what others hold: room, or a free connection to a backend. */
  isHeldUp(): boolean;
}

/**
 * Parked: answered and dead-lettered without being executed. Passed over: neither answered nor dead-lettered, because even that
 * has ended the process.
 */
export type Fate = 'handled' | 'parked' | 'passed over';

export interface QuarantineOptions {
  /** The crash record of the checkpoint, as text. */
  readonly crashRecord: string | undefined;
  /** Writes a crash record and returns whether that worked. */
  recordCrashState(next: CrashRecord): Promise<boolean>;
  /** When aborted, no more messages begin. */
  readonly draining: AbortSignal;
  readonly suspectsInWork: SuspectsInWork;
  /** The most suspects in work: as many messages as may be in flight at once. */
  readonly mostSuspects: number;
  readonly log: LogLines;
  readonly meter?: Meter;
}

/** A message that was alone in work at this number of unclean shutdowns is parked unexecuted. */
const endsUntilParked = 3;

/** Pause before the next attempt when the store has not accepted a crash record. */
const recordPauseMs = 1_000;

/**
 * Slow suspects begin this many milliseconds after the session: the turns of the others are over by then, and a suspect that
 * must run alone has not waited for slow ones of any partition.
 */
export const headStartMs = 5_000;

interface WaitingSuspect extends Suspect {
  settle(isTurn: boolean): void;
  /** Whether it was held up when that was last checked. */
  wasHeldUp: boolean;
}

const unknown: Suspicion = { isInWork: false, isSlow: false, isCleared: false, ends: 0 };

/** Undefined when there are no suspects. */
export function createQuarantine(options: QuarantineOptions): Quarantine | undefined {
  const crashRecord = decodeCrashRecord(options.crashRecord);
  if (!isQuarantine(crashRecord)) return undefined;
  const { recordCrashState, draining, suspectsInWork, log, meter = noMeter } = options;
  const mostSuspects = Math.min(options.mostSuspects, maxSuspects);
  const countIsolatedRun = meter.counter('device_messaging.quarantine.trials');
  const { ends, upTo } = crashRecord;
  /** Unfinished suspects of which something is known. */
  const known = new Map(crashRecord.suspects);
  const nextTurn = createTurns(crashRecord.suspects);
  /** Devices whose suspect has been seen. */
  const devices = new Set<string>();
  const waiting = new Map<number, WaitingSuspect>();
  const inWork = new Map<number, WaitingSuspect>();
  /** Suspects that have left work and not ended. */
  const asleep = new Set<number>();
  /** Those in work that other suspects wait for. */
  const awaited = new Set<number>();
  let alone: number | undefined;
  let saving: Promise<unknown> = Promise.resolve();
  let nextSave: Promise<boolean> | undefined;
  let isServing = false;
  let isSlowTime = false;
  const headStart = setTimeout(beginSlow, headStartMs).unref();

  const own: PartitionSuspects = {
    inWork: () => inWork.size,
    async recordAlone(isAlone) {
      alone = isAlone ? [...inWork.keys()][0] : undefined;
      await saved();
    },
    changed: serve,
  };
  const leave = suspectsInWork.join(own);
  log.warn(
    { ends, upTo, suspects: known.size },
    'unclean shutdowns: messages that may be the cause are handled in turns',
  );
  draining.addEventListener('abort', end, { once: true });

  function end() {
    for (const { settle } of waiting.values()) settle(false);
    waiting.clear();
    awaited.clear();
    clearTimeout(headStart);
    leave();
  }

  function beginSlow() {
    isSlowTime = true;
    void serve();
  }

  /** Writes the crash record as it is when the write before is over. @returns whether that worked */
  function save(): Promise<boolean> {
    nextSave ??= saving.then(() => {
      nextSave = undefined;
      if (draining.aborted) return false; // the drain writes the last checkpoint
      const suspects = new Map(known);
      for (const one of inWork.keys()) suspects.set(one, { ...(known.get(one) ?? unknown), isInWork: true });
      const written = recordCrashState({ ends, upTo, alone, suspects });
      saving = written;
      return written;
    });
    return nextSave;
  }

  /** No suspect begins before its crash record is stored: a failing store is asked until it takes the record. */
  async function saved(): Promise<void> {
    while (!(await save()) && !draining.aborted) await pause(recordPauseMs, draining);
  }

  /** Begins the suspects whose turn it is, turn by turn. */
  async function serve() {
    if (isServing) return;
    isServing = true;
    await Promise.resolve(); // what is read together begins together
    for (let turn = turnNow(); turn !== undefined; turn = turnNow()) await begin(turn);
    isServing = false;
  }

  function turnNow(): Turn | undefined {
    const room = mostSuspects - inWork.size;
    if (draining.aborted || awaited.size > 0 || waiting.size === 0 || room <= 0) return undefined;
    const isAlone = suspectsInWork.count() === 0;
    const turn = nextTurn({ waiting: waiting.keys(), isIdle: inWork.size === 0, isAlone, isSlowTime });
    return turn && { ...turn, sequenceNumbers: turn.sequenceNumbers.slice(0, room) };
  }

  async function begin({ sequenceNumbers, isSlow, isAlone }: Turn) {
    const suspects = sequenceNumbers.flatMap((one) => waiting.get(one) ?? []);
    await suspectsInWork.enter(own, isAlone, async (isFirst) => {
      if (draining.aborted) return;
      for (const one of suspects) inWork.set(one.sequenceNumber, one);
      alone = isFirst && sequenceNumbers.length === 1 ? sequenceNumbers[0] : undefined;
      await saved();
    });
    if (draining.aborted || !suspects.every(({ sequenceNumber }) => inWork.has(sequenceNumber))) return;
    logTurn(sequenceNumbers);
    for (const { sequenceNumber, settle } of suspects) {
      if (!isSlow) awaited.add(sequenceNumber);
      waiting.delete(sequenceNumber);
      settle(true);
    }
    if (!isSlow) setTimeout(goOn, patienceMs, suspects).unref();
  }

  /** After the next unclean shutdown, the last such line says which suspects were in work. */
  function logTurn(sequenceNumbers: readonly number[]) {
    const [first = 0] = sequenceNumbers;
    const suspects = sequenceNumbers.length;
    if (suspects > 1) return log.info({ suspects, from: first, to: sequenceNumbers.at(-1) }, 'suspects begin');
    const place = { device: waiting.get(first)?.deviceId, sequenceNumber: first, ends: known.get(first)?.ends ?? 0 };
    log.info({ suspects, ...place, alone: alone === first }, 'suspects begin');
    if (fateOf(first) !== 'passed over') return;
    log.error(
      place,
      'message has ended the process even without being executed: passed over, neither answered nor parked',
    );
  }

  function fateOf(sequenceNumber: number): Fate {
    const { ends } = known.get(sequenceNumber) ?? unknown;
    return ends < endsUntilParked ? 'handled' : ends === endsUntilParked ? 'parked' : 'passed over';
  }

  /**
   * The others stop waiting for these suspects. A suspect is slow when it is not held up at two checks in a row; one that is held
   * up is not slow, however long that takes (D30).
   */
  function goOn(suspects: readonly WaitingSuspect[]) {
    if (draining.aborted) return;
    const undecided = suspects.filter((suspect) => {
      const { sequenceNumber, wasHeldUp } = suspect;
      if (inWork.get(sequenceNumber) !== suspect) return false;
      awaited.delete(sequenceNumber);
      suspect.wasHeldUp = suspect.isHeldUp();
      if (wasHeldUp || suspect.wasHeldUp) return true;
      known.set(sequenceNumber, { ...(known.get(sequenceNumber) ?? unknown), isSlow: true });
      countIsolatedRun('slow');
      return false;
    });
    if (undecided.length > 0) setTimeout(goOn, patienceMs, undecided).unref();
    void serve();
  }

  function leaveWork(sequenceNumber: number) {
    inWork.delete(sequenceNumber);
    awaited.delete(sequenceNumber);
    if (alone === sequenceNumber) alone = undefined;
    suspectsInWork.left(own);
    void serve();
  }

  return {
    isSuspect(deviceId, sequenceNumber) {
      return sequenceNumber <= upTo && !devices.has(deviceId);
    },
    turnOf(suspect) {
      devices.add(suspect.deviceId);
      if (draining.aborted) return Promise.resolve(false);
      return new Promise((settle) => {
        waiting.set(suspect.sequenceNumber, { ...suspect, settle, wasHeldUp: false });
        void serve();
      });
    },
    putBack(deviceId, sequenceNumber) {
      if (!inWork.has(sequenceNumber)) return;
      devices.delete(deviceId);
      leaveWork(sequenceNumber);
    },
    ended(sequenceNumber) {
      if (!inWork.has(sequenceNumber) && !asleep.delete(sequenceNumber)) return undefined;
      if (draining.aborted) return Promise.resolve();
      countIsolatedRun('handled');
      known.delete(sequenceNumber);
      leaveWork(sequenceNumber);
      return save().then(() => {});
    },
    fateOf,
    isInWork: (sequenceNumber) => inWork.has(sequenceNumber),
    sleeps(sequenceNumber) {
      if (!inWork.has(sequenceNumber) || draining.aborted) return;
      asleep.add(sequenceNumber);
      leaveWork(sequenceNumber);
      void save();
    },
    suspects: () => waiting.size + inWork.size,
  };
}
