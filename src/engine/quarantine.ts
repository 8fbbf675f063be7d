import { pause } from '../concurrency/waiting.ts';
import type { LogLines } from '../observing/log.ts';
import { type Meter, noMeter } from '../observing/metrics.ts';
import { type CrashRecord, decodeCrashRecord, isQuarantine, maxSuspects } from './crashRecord.ts';

export interface QuarantineOptions {
  readonly crashRecord: string | undefined;
  recordCrashState(next: CrashRecord): Promise<boolean>;
  readonly draining: AbortSignal;
  readonly turnstile: Turnstile;
  /** The most suspects of a batch: as many messages as may be in flight at once. */
  readonly mostSuspects: number;
  readonly log: LogLines;
  readonly meter?: Meter;
}

/** A message that was alone in work at this number of unclean shutdowns is parked unexecuted. */
const endsUntilParked = 3;
/** Those that were in work at the last unclean shutdown begin in this number of batches: the cause is in one of them. */
const parts = 4;

/** The longest wait for the batch before. It doubles with each of many ends: in the end it is certain in which batch the cause is. */
const patienceAfter = (ends: number) => 1_000 * 2 ** Math.min(Math.max(ends - 6, 0), 7);

/** Pause before the next attempt when the store has not accepted a crash record. */
const recordPauseMs = 1_000;

export type Quarantine = NonNullable<ReturnType<typeof createQuarantine>>;

/**
 * For a session after unclean shutdowns (G4, D29). A suspect is the first message of a device in the session, if it may have
 * been in flight at the last unclean shutdown. Suspects begin in batches, each recorded before, so that after another one it is
 * known which were in work: those are divided, until one runs alone. All other messages are handled beside them.
 * @returns undefined when there are no suspects
 */
export function createQuarantine(options: QuarantineOptions) {
  const crashRecord = decodeCrashRecord(options.crashRecord);
  if (!isQuarantine(crashRecord)) return undefined;
  const { recordCrashState, draining, turnstile, log, meter = noMeter } = options;
  const mostSuspects = Math.min(options.mostSuspects, maxSuspects);
  const countTrial = meter.counter('device_messaging.quarantine.trials');
  const { ends, upTo } = crashRecord;
  /** Unfinished suspects that the cause is among, as far as known. They begin before all others. */
  const blamed = new Map(crashRecord.suspects);
  const mostBlamed = Math.min(Math.ceil(blamed.size / parts), mostSuspects);
  const devices = new Set<string>();
  const waiting = new Map<number, { readonly deviceId: string; begin(isTurn: boolean): void }>();
  const batches: Batch[] = [];
  /** Suspects that have left work and not ended. */
  const asleep = new Set<number>();
  let saving: Promise<unknown> = Promise.resolve();
  let nextSave: Promise<boolean> | undefined;

  const found = { ends, upTo, suspects: blamed.size };
  log.warn(found, 'unclean shutdowns: messages that may be the cause are handled in turns');
  draining.addEventListener('abort', end, { once: true });

  function end() {
    for (const { begin } of waiting.values()) begin(false);
    waiting.clear();
    turnstile.leave(partition);
    for (const one of [...batches].flatMap(({ left }) => [...left])) leaveWork(one);
  }

  const batchOf = (sequenceNumber: number) => batches.find(({ left }) => left.has(sequenceNumber));

  const endsOf = (sequenceNumber: number) => blamed.get(sequenceNumber)?.ends ?? 0;

  /** Writes the crash record as it is when the write before is over. @returns whether that worked */
  function save(): Promise<boolean> {
    nextSave ??= saving.then(() => {
      nextSave = undefined;
      if (draining.aborted) return false; // the drain writes the last checkpoint
      const suspects = new Map(blamed);
      const recorded = turnstile.recorded();
      const inWork = recorded && batches.includes(recorded.batch) ? [...recorded.batch.left] : [];
      for (const one of inWork) suspects.set(one, { isInWork: true, ends: endsOf(one) });
      const written = recordCrashState({ ends, upTo, alone: recorded?.isAlone ? inWork[0] : undefined, suspects });
      saving = written;
      return written;
    });
    return nextSave;
  }

  /** No suspect begins before its crash record is stored: a failing store is asked until it takes the record. */
  async function saved(): Promise<void> {
    while (!(await save()) && !draining.aborted) await pause(recordPauseMs, draining);
  }

  const isSingle = (one: number) => blamed.has(one) && (blamed.size === 1 || endsOf(one) > 0);

  /** A blamed one that is left or has been alone before, by itself; else some blamed ones; else all others. */
  const partition: Candidates = (isIdle) => {
    const all = [...waiting.keys()];
    const single = all.filter((one) => isIdle && isSingle(one)).slice(0, 1);
    const suspected = all.filter((one) => blamed.has(one) && !isSingle(one)).slice(0, mostBlamed);
    const others = all.filter((one) => !blamed.has(one)).slice(0, mostSuspects);
    const ranked = [single, suspected, others];
    const rank = ranked.findIndex(({ length }) => length > 0);
    const chosen = ranked[rank];
    return chosen && { rank, take: () => take(chosen) };
  };

  function take(chosen: readonly number[]): Batch {
    const batch: Batch = {
      left: new Set(chosen),
      patienceMs: patienceAfter(ends),
      recorded: saved,
      begin() {
        if (draining.aborted) return;
        logBatch(chosen);
        for (const one of chosen) waiting.get(one)?.begin(true);
        for (const one of chosen) waiting.delete(one);
      },
    };
    batches.push(batch);
    return batch;
  }

  /** After the next unclean shutdown, the last such line says which suspects were in work. */
  function logBatch(chosen: readonly number[]) {
    const [first = 0] = chosen;
    const suspects = chosen.length;
    if (suspects > 1) return log.info({ suspects, from: first, to: chosen.at(-1) }, 'suspects begin');
    const place = { device: waiting.get(first)?.deviceId, sequenceNumber: first, ends: endsOf(first) };
    log.info({ suspects, ...place, alone: turnstile.recorded()?.isAlone === true }, 'suspects begin');
    const why = 'message has ended the process even without being executed: passed over, neither answered nor parked';
    if (fateOf(first) === 'passed over') log.error(place, why);
  }

  /** Parked: answered and dead-lettered unexecuted. Passed over: not even that, because it has ended the process, too. */
  function fateOf(sequenceNumber: number): 'handled' | 'parked' | 'passed over' {
    const ends = endsOf(sequenceNumber);
    return ends < endsUntilParked ? 'handled' : ends === endsUntilParked ? 'parked' : 'passed over';
  }

  function leaveWork(sequenceNumber: number) {
    const batch = batchOf(sequenceNumber);
    if (batch === undefined) return;
    batch.left.delete(sequenceNumber);
    if (batch.left.size === 0) batches.splice(batches.indexOf(batch), 1);
    turnstile.left(batch);
  }

  return {
    /** Whether the message, the first of its lane, has to wait for its batch. */
    isSuspect: (deviceId: string, sequenceNumber: number): boolean => sequenceNumber <= upTo && !devices.has(deviceId),
    /** Resolves with true when the suspect may begin, with false when the partition drains. */
    turnOf(deviceId: string, sequenceNumber: number): Promise<boolean> {
      devices.add(deviceId);
      if (draining.aborted) return Promise.resolve(false);
      return new Promise((begin) => {
        waiting.set(sequenceNumber, { deviceId, begin });
        turnstile.wait(partition);
      });
    },
    putBack(deviceId: string, sequenceNumber: number) {
      if (batchOf(sequenceNumber) === undefined) return;
      devices.delete(deviceId);
      leaveWork(sequenceNumber);
    },
    /** Undefined when it was no suspect; else resolves when a checkpoint contains its end, before the device's next message, which is none. */
    ended(sequenceNumber: number): Promise<unknown> | undefined {
      if (batchOf(sequenceNumber) === undefined && !asleep.delete(sequenceNumber)) return undefined;
      if (draining.aborted) return Promise.resolve();
      countTrial('handled');
      blamed.delete(sequenceNumber);
      leaveWork(sequenceNumber);
      return save();
    },
    fateOf,
    isInWork: (sequenceNumber: number): boolean => batchOf(sequenceNumber) !== undefined,
    /** All that is left of the message are replies that wait for full queues (C4): it leaves work, and its device still waits for `ended`. */
    sleeps(sequenceNumber: number) {
      if (batchOf(sequenceNumber) === undefined || draining.aborted) return;
      asleep.add(sequenceNumber);
      leaveWork(sequenceNumber);
      void save();
    },
    suspects: () => batches.reduce((sum, { left }) => sum + left.size, waiting.size),
  };
}

/** Of a partition, the suspects to begin next. The lowest rank is next. @param isIdle only then one begins that is to be alone */
type Candidates = (isIdle: boolean) => { readonly rank: number; take(): Batch } | undefined;

interface Batch {
  readonly left: Set<number>;
  readonly patienceMs: number;
  /** Resolves when the crash record of the partition is stored, with the batch that is recorded now. */
  recorded(): Promise<void>;
  begin(): void;
}

export type Turnstile = ReturnType<typeof createTurnstile>;

/** Lets batches of all partitions begin one after the other. Only the last one in work is recorded as such: the cause is in it, or it will end. */
export function createTurnstile() {
  const partitions = new Set<Candidates>();
  const inWork: Batch[] = [];
  let recorded: { readonly batch: Batch; readonly isAlone: boolean } | undefined;
  /** The batch that began last, until it has ended or had its time. */
  let awaited: Batch | undefined;
  let patience: NodeJS.Timeout | undefined;
  let isChanged = false;
  let isServing = false;

  function take(): Batch | undefined {
    const all = [...partitions].flatMap((candidates) => candidates(inWork.length === 0) ?? []);
    const batch = all.toSorted((one, other) => one.rank - other.rank)[0]?.take();
    if (batch === undefined) return undefined;
    inWork.push(batch);
    awaited = batch;
    clearTimeout(patience);
    patience = setTimeout(() => {
      awaited = undefined;
      void serve();
    }, batch.patienceMs).unref();
    return batch;
  }

  async function recordLast() {
    const batch = inWork.at(-1);
    const isAlone = inWork.length === 1 && batch?.left.size === 1;
    if (batch === recorded?.batch && isAlone === recorded?.isAlone) return;
    const before = recorded?.batch;
    recorded = undefined;
    if (before && before !== batch && before.left.size > 0) await before.recorded();
    recorded = batch && { batch, isAlone };
    await batch?.recorded();
  }

  async function serve() {
    isChanged = true;
    if (isServing) return;
    isServing = true;
    while (isChanged) {
      await Promise.resolve(); // what is read together begins together
      isChanged = false;
      const batch = awaited === undefined ? take() : undefined;
      await recordLast();
      batch?.begin();
      isChanged ||= batch !== undefined;
    }
    isServing = false;
  }

  return {
    wait(partition: Candidates) {
      partitions.add(partition);
      void serve();
    },
    leave: (partition: Candidates) => void partitions.delete(partition),
    left(batch: Batch) {
      if (batch.left.size === 0) {
        inWork.splice(inWork.indexOf(batch), 1);
        if (awaited === batch) awaited = undefined;
      }
      void serve();
    },
    /** The batch that is recorded as in work; alone: no other suspect of the process is. */
    recorded: () => recorded,
  };
}
