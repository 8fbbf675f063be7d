import { getEventListeners } from 'node:events';
import { describe, expect, it, vi } from 'vitest';
import { type CrashRecord, encodeCrashRecord, type Suspicion } from '../../../src/engine/quarantine/crashRecord.ts';
import { createQuarantine, headStartMs } from '../../../src/engine/quarantine/quarantine.ts';
import {
  createSuspectsInWork,
  patienceMs,
  type SuspectsInWork,
} from '../../../src/engine/quarantine/suspectsInWork.ts';
import { createLog } from '../../../src/log/log.ts';
import { createMeter } from '../../../src/metrics/meter.ts';
import { withFakeTimers } from '../../support/waiting.ts';

withFakeTimers();

interface Given {
  ends?: number;
  known?: Readonly<Record<number, Partial<Suspicion>>>;
  mostSuspects?: number;
  suspectsInWork?: SuspectsInWork;
}

const unsuspected: Suspicion = { isInWork: false, isSlow: false, isCleared: false, ends: 0 };

const pass = (ms: number) => vi.advanceTimersByTimeAsync(ms);

/** A quarantine whose messages end, and whose store answers, when the test says so. */
function setUp({ ends = 2, known = {}, mostSuspects = 10, suspectsInWork = createSuspectsInWork() }: Given = {}) {
  /** What happens, in order. */
  const seen: string[] = [];
  const draining = new AbortController();
  const lines: object[] = [];
  const heldUp = new Set<number>();
  const meter = createMeter();
  let last: CrashRecord | undefined;
  let isStoreOut = false;
  const suspects = new Map(
    Object.entries(known).map(([sequenceNumber, one]) => [Number(sequenceNumber), { ...unsuspected, ...one }]),
  );
  const quarantine = createQuarantine({
    crashRecord: encodeCrashRecord({ ends, upTo: 100, alone: undefined, suspects }),
    async recordCrashState(next) {
      if (isStoreOut) return false;
      last = next;
      seen.push(inWords(next));
      return true;
    },
    draining: draining.signal,
    suspectsInWork,
    mostSuspects,
    log: createLog('trace', { write: (line) => void lines.push(JSON.parse(line)) }),
    meter,
  });
  if (quarantine === undefined) throw new Error('no quarantine');

  return {
    quarantine,
    draining: draining.signal,
    seen,
    lines,
    heldUp,
    counted: (result: 'handled' | 'slow') => meter.total('device_messaging.quarantine.trials', result),
    last: () => last,
    /** As the last crash record says. */
    slow: () => [...(last?.suspects ?? [])].filter(([, { isSlow }]) => isSlow).map(([one]) => one),
    begun: () => seen.filter((what) => what.startsWith('begin')).map((what) => Number(what.slice(6))),
    /** The first messages of as many devices, which come at once. */
    async come(...sequenceNumbers: number[]) {
      for (const one of sequenceNumbers) {
        const suspect = { deviceId: `d${one}`, sequenceNumber: one, isHeldUp: () => heldUp.has(one) };
        void quarantine.turnOf(suspect).then((isTurn) => seen.push(`${isTurn ? 'begin' : 'leave'} ${one}`));
      }
      await pass(0);
    },
    async end(...sequenceNumbers: number[]) {
      for (const one of sequenceNumbers) void quarantine.ended(one)?.then(() => seen.push(`next after ${one}`));
      await pass(0);
    },
    async close() {
      draining.abort();
      await pass(0);
    },
    store(isOut: boolean) {
      isStoreOut = isOut;
    },
  };
}

type Setting = ReturnType<typeof setUp>;

const inWords = ({ alone, suspects }: CrashRecord) => {
  const inWork = [...suspects]
    .filter(([, { isInWork }]) => isInWork)
    .map(([one]) => (one === alone ? `${one} alone` : one));
  return `record ${inWork.join(' ') || 'nobody'}`;
};

describe('a suspect', () => {
  it('is the first message of a device that is not newer than the last unclean shutdown', async () => {
    const { quarantine, come } = setUp({ mostSuspects: 1 });
    expect([quarantine.isSuspect('d1', 100), quarantine.isSuspect('d1', 101)]).toEqual([true, false]);
    await come(1);
    expect([quarantine.isSuspect('d1', 2), quarantine.isSuspect('d2', 2)]).toEqual([false, true]);
  });

  it('waits while as many are in work as may be in flight', async () => {
    const { seen, come, end } = setUp({ mostSuspects: 2 });
    await come(1, 2, 3, 4);
    await pass(10 * patienceMs);
    expect(seen).toEqual(['record 1 2', 'begin 1', 'begin 2']);
    await end(2);
    await pass(patienceMs);
    expect(seen.filter((what) => what.startsWith('begin'))).toEqual(['begin 1', 'begin 2', 'begin 3']);
  });

  it('that sleeps leaves work, and its device waits until it has ended and that is recorded', async () => {
    const { quarantine, seen, last, come } = setUp({ mostSuspects: 1, known: { 1: { ends: 1 } } });
    await come(1);
    await come(2);
    expect(seen.at(-1)).toBe('begin 1');
    quarantine.sleeps(1);
    await pass(0);
    expect([seen.at(-1), last()?.suspects.get(1)]).toEqual(['begin 2', { ...unsuspected, ends: 1 }]);
    quarantine.sleeps(1);
    await quarantine.ended(1);
    expect([last()?.suspects.has(1), quarantine.ended(1)]).toEqual([false, undefined]);
  });

  it('is recorded before it begins, together with others that come at once', async () => {
    const { seen, come } = setUp();
    await come(1, 2, 3);
    expect(seen).toEqual(['record 1 2 3', 'begin 1', 'begin 2', 'begin 3']);
  });

  it('does not begin before the store has taken the crash record', async () => {
    const { seen, come, store } = setUp();
    store(true);
    await come(1);
    await pass(5_000);
    expect(seen).toEqual([]);
    store(false);
    await pass(1_000);
    expect(seen).toEqual(['record 1 alone', 'begin 1']);
  });

  it('leaves no listener behind while the store fails', async () => {
    const { draining, come, store } = setUp();
    await pass(0);
    const before = getEventListeners(draining, 'abort').length;
    store(true);
    await come(1);
    await pass(20_000);
    expect(getEventListeners(draining, 'abort').length).toBeLessThanOrEqual(before + 1);
  });

  it('allows its device to continue when a checkpoint has it', async () => {
    const { seen, come, end } = setUp();
    await come(1, 2);
    seen.length = 0;
    await end(1);
    expect(seen).toEqual(['record 2 alone', 'next after 1']);
  });

  it('that cannot begin waits for another turn', async () => {
    const { quarantine, seen, come } = setUp();
    await come(1, 2);
    quarantine.putBack('d1', 1);
    expect(quarantine.isSuspect('d1', 1)).toBe(true);
    await come(1);
    await pass(2 * patienceMs);
    expect(seen.slice(-2)).toEqual(['record 2 1', 'begin 1']);
  });

  it('is no message that comes after it, though that had to wait for a backend', async () => {
    const { quarantine, seen, come, end } = setUp();
    await come(1);
    await end(1);
    seen.length = 0;
    quarantine.putBack('d1', 2);
    expect([quarantine.isSuspect('d1', 2), quarantine.ended(2)]).toEqual([false, undefined]);
    await pass(0);
    expect(seen).toEqual([]);
  });

  it('stays known with its earlier shutdowns when it is slow', async () => {
    const { come, last } = setUp({ known: { 1: { ends: 2 } } });
    await come(1);
    await pass(patienceMs);
    await come(2);
    expect(last()?.suspects.get(1)).toEqual({ isInWork: true, isSlow: true, isCleared: false, ends: 2 });
  });

  it('is counted while it waits and while it is in progress', async () => {
    const { quarantine, come, end } = setUp();
    await come(1, 2);
    await come(3);
    expect(quarantine.suspects()).toBe(3);
    await end(1, 2);
    await end(3);
    expect(quarantine.suspects()).toBe(0);
  });
});

describe('the order of suspects', () => {
  const known = Object.fromEntries([1, 2, 3, 4, 5, 6, 7, 8].map((one) => [one, {}]));

  it('has those in progress at the last shutdown last, a quarter at a time', async () => {
    const { begun, come, end } = setUp({ known });
    await come(1, 2, 3, 4, 5, 6, 7, 8, 9);
    for (const turn of [[9], [1, 2], [3, 4], [5, 6], [7, 8]]) {
      expect(begun().slice(-turn.length)).toEqual(turn);
      await end(...turn);
    }
  });

  it('counts neither slow ones nor those that were alone for the quarters of the others', async () => {
    const { begun, come, end } = setUp({ known: { 1: { isSlow: true }, 2: { ends: 1 }, 3: {}, 4: {}, 5: {}, 6: {} } });
    await come(1, 2, 3, 4, 5, 6);
    for (const one of [3, 4, 5, 6]) {
      expect(begun().at(-1)).toBe(one);
      await end(one);
    }
    expect(begun()).toEqual([3, 4, 5, 6, 2]);
  });

  it('waits a second at most for slow suspects', async () => {
    const { begun, come } = setUp({ known });
    await come(1, 2, 3, 4);
    expect(begun()).toEqual([1, 2]);
    await pass(patienceMs - 1);
    expect(begun()).toEqual([1, 2]);
    await pass(1);
    expect(begun()).toEqual([1, 2, 3, 4]);
  });

  it('does not wait for a blocked suspect, and a suspect is slow only when it is in progress twice in a row', async () => {
    const { begun, come, end, slow, heldUp } = setUp();
    for (const one of [1, 2, 3]) heldUp.add(one);
    await come(1, 2, 3, 4);
    await pass(patienceMs);
    await come(5);
    expect([begun(), slow()]).toEqual([[1, 2, 3, 4, 5], [4]]);
    await pass(8 * patienceMs);
    for (const one of [1, 2]) heldUp.delete(one);
    await pass(patienceMs);
    heldUp.add(1);
    await pass(patienceMs);
    await end(5);
    expect(slow()).toEqual([4, 2]);
  });

  it('has earlier slow suspects last, when no other of the partition is in progress', async () => {
    const { begun, come, end } = setUp({ known: { 1: { isSlow: true }, 2: { isSlow: true }, 3: {}, 4: {} } });
    await come(1, 2, 3, 4);
    expect(begun()).toEqual([3]);
    await end(3);
    expect(begun()).toEqual([3, 4]);
    await pass(headStartMs);
    expect(begun()).toEqual([3, 4]);
    await end(4);
    expect(begun()).toEqual([3, 4, 1]);
    await pass(600_000);
    expect(begun()).toEqual([3, 4, 1]);
    await end(1);
    expect(begun()).toEqual([3, 4, 1, 2]);
  });

  it('has a few slow suspects at a time, cleared ones first', async () => {
    const slow = { isSlow: true };
    const cleared = Array.from({ length: 17 }, (_, index) => 10 + index);
    const known = {
      1: slow,
      2: slow,
      ...Object.fromEntries(cleared.map((one) => [one, { ...slow, isCleared: true }])),
    };
    const { begun, come, end } = setUp({ known, mostSuspects: 30 });
    await come(1, 2, ...cleared);
    await pass(headStartMs);
    expect(begun()).toEqual(cleared.slice(0, 16));
    await end(...cleared.slice(0, 16));
    expect(begun()).toEqual(cleared);
    await end(...cleared.slice(16));
    expect(begun()).toEqual([...cleared, 1]);
  });

  it('has a quarter of the slow suspects at a time, up to a limit', async () => {
    const many = Array.from({ length: 80 }, (_, index) => index + 1);
    const { begun, come } = setUp({
      known: Object.fromEntries(many.map((one) => [one, { isSlow: true }])),
      mostSuspects: 80,
    });
    await come(...many);
    await pass(headStartMs);
    expect(begun()).toEqual(many.slice(0, 16));
  });

  it('does not delay others for slow suspects', async () => {
    const { begun, come } = setUp({ known: { 1: { isSlow: true }, 2: { isSlow: true } } });
    await come(1, 2);
    await pass(headStartMs);
    await come(3);
    await pass(patienceMs);
    expect(begun()).toEqual([1, 3]);
  });

  it('begins slow suspects only after those of all partitions have had a head start', async () => {
    const suspectsInWork = createSuspectsInWork();
    const slow = setUp({ suspectsInWork, known: { 1: { isSlow: true }, 2: { isSlow: true } } });
    const other = setUp({ suspectsInWork, known: { 7: { ends: 2 } } });
    await slow.come(1, 2);
    await pass(headStartMs - 1);
    await other.come(7);
    expect([slow.seen, other.seen]).toEqual([[], ['record 7 alone', 'begin 7']]);
    await other.end(7);
    await pass(1);
    expect(slow.seen).toEqual(['record 1 alone', 'begin 1']);
  });

  it('does not wait for a suspect of a stale crash record that never arrives', async () => {
    const { begun, come } = setUp({
      known: { 1: {}, 2: { ends: 2 }, 3: {}, 4: { isSlow: true }, 5: { isSlow: true } },
    });
    await come(9);
    await come(3);
    await come(5);
    await pass(2 * patienceMs);
    expect(begun()).toEqual([9, 3]);
  });
});

describe('an isolated run', () => {
  it('begins for the last suspect when no other of the process is in progress', async () => {
    const suspectsInWork = createSuspectsInWork();
    const other = setUp({ suspectsInWork });
    await other.come(1, 2);
    const { seen, come } = setUp({ suspectsInWork, known: { 7: {} } });
    await come(7);
    await pass(60_000);
    expect(seen).toEqual([]);
    await other.end(1, 2);
    expect(seen).toEqual(['record 7 alone', 'begin 7']);
  });

  it('does not begin when suspects of another partition have begun at the same moment', async () => {
    const suspectsInWork = createSuspectsInWork();
    const quick = setUp({ suspectsInWork });
    const single = setUp({ suspectsInWork, known: { 7: {} } });
    await Promise.all([quick.come(1, 2), single.come(7)]);
    expect([quick.begun(), single.seen]).toEqual([[1, 2], []]);
    await quick.end(1, 2);
    expect(single.seen).toEqual(['record 7 alone', 'begin 7']);
  });

  it('begins for each suspect that was alone at an earlier shutdown, the most frequent first', async () => {
    const { begun, come, end } = setUp({ known: { 1: { ends: 1 }, 2: { ends: 2 }, 3: {}, 4: {} } });
    await come(1, 2, 3, 4);
    await end(3);
    await end(4);
    expect(begun()).toEqual([3, 4, 2]);
    await end(2);
    expect(begun()).toEqual([3, 4, 2, 1]);
  });

  it('begins for one suspect at a time of those that were alone equally often', async () => {
    const { begun, come, end } = setUp({ known: { 1: { ends: 1 }, 2: { ends: 1 } } });
    await come(1, 2);
    expect(begun()).toEqual([1]);
    await end(1);
    expect(begun()).toEqual([1, 2]);
  });

  it('begins for the last suspect in progress as soon as the store has it', async () => {
    const suspectsInWork = createSuspectsInWork();
    setUp({ suspectsInWork });
    const { seen, come, end } = setUp({ suspectsInWork });
    await come(1, 2);
    await end(2);
    expect(seen.slice(2)).toEqual(['begin 2', 'record 1 alone', 'next after 2']);
  });

  it('ends before another suspect of the process begins, which waits for a second', async () => {
    const suspectsInWork = createSuspectsInWork();
    const one = setUp({ suspectsInWork });
    await one.come(1);
    expect(one.seen).toEqual(['record 1 alone', 'begin 1']);
    const other = setUp({ suspectsInWork });
    await other.come(2);
    await pass(patienceMs - 1);
    expect(other.seen).toEqual([]);
    one.store(true);
    await pass(5_000);
    expect(other.seen).toEqual([]);
    one.store(false);
    await pass(1_000);
    expect([one.seen.at(-1), other.seen]).toEqual(['record 1', ['record 2', 'begin 2']]);
  });

  it('ends with its suspect: another one of the process begins at once then, even if the store fails', async () => {
    const suspectsInWork = createSuspectsInWork();
    const [one, other] = [setUp({ suspectsInWork }), setUp({ suspectsInWork })];
    await one.come(1);
    await other.come(2);
    await pass(100);
    one.store(true);
    await one.end(1);
    expect(other.seen).toEqual(['record 2 alone', 'begin 2']);
  });

  it('is recorded once, also if a partition without suspects is closed meanwhile', async () => {
    const suspectsInWork = createSuspectsInWork();
    const [one, other] = [setUp({ suspectsInWork }), setUp({ suspectsInWork })];
    await one.come(1);
    await other.close();
    expect(one.seen).toEqual(['record 1 alone', 'begin 1']);
  });

  it('is recorded for a suspect whose predecessors end while it is being recorded', async () => {
    const suspectsInWork = createSuspectsInWork();
    const [one, other] = [setUp({ suspectsInWork }), setUp({ suspectsInWork })];
    await one.come(1, 2);
    other.store(true);
    await other.come(3);
    await one.end(1, 2);
    other.store(false);
    await pass(1_000);
    expect(other.seen).toEqual(['record 3', 'begin 3', 'record 3 alone']);
  });

  it('is recorded for no suspect beside which another one begins, and that one delays no third', async () => {
    const suspectsInWork = createSuspectsInWork();
    const [one, other, third] = [1, 2, 3].map(() => setUp({ suspectsInWork })) as [Setting, Setting, Setting];
    await one.come(1, 2);
    other.store(true);
    await other.come(3);
    await third.come(4);
    await one.end(1, 2);
    other.store(false);
    await pass(1_000);
    expect([other.seen, third.seen]).toEqual([
      ['record 3', 'begin 3'],
      ['record 4', 'begin 4'],
    ]);
  });

  it('does not include suspects of a closed partition', async () => {
    const suspectsInWork = createSuspectsInWork();
    const one = setUp({ suspectsInWork });
    await one.come(1);
    await one.close();
    const other = setUp({ suspectsInWork });
    await other.come(2);
    expect(other.seen).toEqual(['record 2 alone', 'begin 2']);
  });
});

it.each([
  [2, 'handled'],
  [3, 'parked'],
  [4, 'passed over'],
  [9, 'passed over'],
])('a message that was in an isolated run at %i shutdowns is %s', async (ends, fate) => {
  const { quarantine, lines, come } = setUp({ known: { 1: { ends } } });
  expect(quarantine.fateOf(1)).toBe(fate);
  await come(1);
  const errors = lines.filter((line) => (line as { level: string }).level === 'error');
  expect(errors).toMatchObject(fate === 'passed over' ? [{ device: 'd1', sequenceNumber: 1, ends }] : []);
});

describe('a partition that closes', () => {
  it('abandons waiting suspects and records nothing more', async () => {
    const { seen, come, end, close } = setUp({ known: { 1: {}, 2: {}, 3: {}, 4: {} } });
    await come(1, 2, 3, 4);
    seen.length = 0;
    void end(1); // its crash record is on its way
    await close();
    expect(seen).toEqual(['leave 2', 'leave 3', 'leave 4', 'next after 1']);
    await end(1);
    await pass(60_000);
    expect(seen.filter((what) => what.startsWith('record'))).toEqual([]);
  });

  it('begins no suspect that waited for an isolated run', async () => {
    const suspectsInWork = createSuspectsInWork();
    const one = setUp({ suspectsInWork });
    await one.come(1);
    const other = setUp({ suspectsInWork });
    await other.come(2);
    await other.close();
    await pass(60_000);
    expect([other.seen, other.quarantine.suspects(), suspectsInWork.count()]).toEqual([['leave 2'], 0, 1]);
  });

  it('begins no later suspect, and is not delayed by a store that fails', async () => {
    const suspectsInWork = createSuspectsInWork();
    const { seen, come, close, store } = setUp({ suspectsInWork });
    const other = setUp({ suspectsInWork });
    store(true);
    await come(1);
    await close();
    await come(2);
    expect(seen).toEqual(['leave 1', 'leave 2']);
    await other.come(3);
    expect(other.begun()).toEqual([3]);
  });
});

describe('what operators see', () => {
  it('is each suspect that was handled, and each slow one once, until the partition drains', async () => {
    const { come, end, close, counted } = setUp({ known: { 4: { isSlow: true }, 5: { isSlow: true } } });
    await come(1, 2, 3, 4, 5);
    await end(1);
    await pass(headStartMs);
    await end(2, 3);
    await pass(5 * patienceMs);
    expect([counted('handled'), counted('slow')]).toEqual([3, 2]);
    await come(6);
    await close();
    await end(4, 6);
    await pass(5 * patienceMs);
    expect([counted('handled'), counted('slow')]).toEqual([3, 2]);
  });

  it('is which suspects begin', async () => {
    const { come, end, lines } = setUp({ known: { 7: { ends: 1 } } });
    await come(1, 2, 3, 7);
    await end(1, 2, 3);
    await end(7);
    await come(8);
    await pass(patienceMs);
    await come(9);
    expect(lines).toMatchObject([
      { level: 'warn', ends: 2, upTo: 100, suspects: 1 },
      { level: 'info', suspects: 3, from: 1, to: 3 },
      { level: 'info', suspects: 1, device: 'd7', sequenceNumber: 7, ends: 1, alone: true },
      { level: 'info', suspects: 1, device: 'd8', sequenceNumber: 8, ends: 0, alone: true },
      { level: 'info', suspects: 1, device: 'd9', sequenceNumber: 9, ends: 0, alone: false },
    ]);
  });
});
