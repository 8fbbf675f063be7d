import { getEventListeners } from 'node:events';
import { describe, expect, it, vi } from 'vitest';
import { type CrashRecord, encodeCrashRecord, type Suspicion } from '../../src/engine/crashRecord.ts';
import { createQuarantine, createTurnstile } from '../../src/engine/quarantine.ts';
import { createLog } from '../../src/observing/log.ts';
import { createMeter } from '../../src/observing/metrics.ts';
import { withFakeTimers } from '../support/waiting.ts';

withFakeTimers();

interface Given {
  ends?: number;
  /** Suspects that were in work at the last unclean shutdown. */
  blamed?: Readonly<Record<number, Partial<Suspicion>>>;
  mostSuspects?: number;
  turnstile?: ReturnType<typeof createTurnstile>;
}

const unsuspected: Suspicion = { isInWork: false, ends: 0 };

/** A batch waits so long for the one before. */
const patienceMs = 1_000;

const pass = (ms: number) => vi.advanceTimersByTimeAsync(ms);

/** A quarantine whose messages end, and whose store answers, when the test says so. */
function setUp({ ends = 2, blamed = {}, mostSuspects = 10, turnstile = createTurnstile() }: Given = {}) {
  const seen: string[] = [];
  const draining = new AbortController();
  const lines: object[] = [];
  const meter = createMeter();
  let last: CrashRecord | undefined;
  let isStoreOut = false;
  const suspects = new Map(Object.entries(blamed).map(([number, one]) => [Number(number), { ...unsuspected, ...one }]));
  const quarantine = createQuarantine({
    crashRecord: encodeCrashRecord({ ends, upTo: 100, alone: undefined, suspects }),
    async recordCrashState(next) {
      if (isStoreOut) return false;
      last = next;
      seen.push(inWords(next));
      return true;
    },
    ...{ draining: draining.signal, turnstile, mostSuspects },
    ...{ log: createLog('trace', { write: (line) => void lines.push(JSON.parse(line)) }), meter },
  });
  if (quarantine === undefined) throw new Error('no quarantine');

  return {
    quarantine,
    draining: draining.signal,
    seen,
    lines,
    counted: () => meter.total('device_messaging.quarantine.trials', 'handled'),
    last: () => last,
    begun: () => seen.filter((what) => what.startsWith('begin')).map((what) => Number(what.slice(6))),
    /** The first messages of as many devices, which come at once. */
    async come(...sequenceNumbers: number[]) {
      for (const one of sequenceNumbers)
        void quarantine.turnOf(`d${one}`, one).then((isTurn) => seen.push(`${isTurn ? 'begin' : 'leave'} ${one}`));
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

const inWords = ({ alone, suspects }: CrashRecord) => {
  const inWork = [...suspects].filter(([, { isInWork }]) => isInWork).map(([n]) => (n === alone ? `${n} alone` : n));
  return `record ${inWork.join(' ') || 'nobody'}`;
};

function setUpTwo(other: Given = {}) {
  const turnstile = createTurnstile();
  return [setUp({ turnstile }), setUp({ turnstile, ...other })] as const;
}

describe('a suspect', () => {
  it('is the first message of a device that is not newer than the last unclean shutdown', async () => {
    const { quarantine, come } = setUp({ mostSuspects: 1 });
    expect([quarantine.isSuspect('d1', 100), quarantine.isSuspect('d1', 101)]).toEqual([true, false]);
    await come(1);
    expect([quarantine.isSuspect('d1', 2), quarantine.isSuspect('d2', 2)]).toEqual([false, true]);
  });

  it('is recorded before it begins, together with others that come at once', async () => {
    const { seen, come } = setUp();
    await come(1, 2, 3);
    expect(seen).toEqual(['record 1 2 3', 'begin 1', 'begin 2', 'begin 3']);
  });

  it('that sleeps leaves work, and its device waits until it has ended and that is recorded', async () => {
    const { quarantine, seen, last, come } = setUp({ mostSuspects: 1, blamed: { 1: { ends: 1 } } });
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

  it('does not begin before the store has taken the crash record, and leaves no listener behind', async () => {
    const { seen, draining, come, store } = setUp();
    const before = getEventListeners(draining, 'abort').length;
    store(true);
    await come(1);
    await pass(20_000);
    expect(seen).toEqual([]);
    expect(getEventListeners(draining, 'abort').length).toBeLessThanOrEqual(before + 1);
    store(false);
    await pass(1_000);
    expect(seen).toEqual(['record 1 alone', 'begin 1']);
  });

  it('allows its device to continue when a checkpoint has it', async () => {
    const { seen, come, end } = setUp();
    await come(1, 2, 3);
    seen.length = 0;
    await end(1);
    expect(seen).toEqual(['record 2 3', 'next after 1']);
  });

  it('that cannot begin waits for another batch', async () => {
    const { quarantine, seen, come } = setUp();
    await come(1, 2);
    quarantine.putBack('d1', 1);
    expect(quarantine.isSuspect('d1', 1)).toBe(true);
    await come(1);
    await pass(patienceMs);
    expect(seen.slice(-2)).toEqual(['record 1', 'begin 1']);
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
});

describe('batches', () => {
  const blamed = Object.fromEntries([1, 2, 3, 4, 5, 6, 7, 8].map((one) => [one, {}]));

  it('are quarters of the blamed suspects, and then all others', async () => {
    const { begun, come, end } = setUp({ blamed });
    await come(10, 1, 2, 3, 4, 5, 6, 7, 8, 9);
    for (const batch of ['1 2', '3 4', '5 6', '7 8', '10 9']) {
      expect(begun().slice(-2).join(' ')).toBe(batch);
      await end(...batch.split(' ').map(Number));
    }
  });

  it('have no more than may be in flight', async () => {
    const { begun, come, end } = setUp({ mostSuspects: 2 });
    await come(1, 2, 3);
    expect(begun()).toEqual([1, 2]);
    await end(1, 2);
    expect(begun()).toEqual([1, 2, 3]);
  });

  it.each([
    [2, 1_000],
    [6, 1_000],
    [8, 4_000],
    [50, 128_000],
  ])('wait after %i unclean shutdowns up to %i ms for the one before; the last is recorded', async (ends, ms) => {
    const { begun, last, come } = setUp({ ends, blamed });
    await come(1, 2, 3, 4);
    await pass(ms - 1);
    expect(begun()).toEqual([1, 2]);
    await pass(1);
    expect(begun()).toEqual([1, 2, 3, 4]);
    expect([...(last()?.suspects ?? [])].filter(([, { isInWork }]) => isInWork).map(([one]) => one)).toEqual([3, 4]);
  });

  it('say that an earlier one is in work when the later ones have ended', async () => {
    const { seen, come, end } = setUp({ blamed });
    await come(1, 2, 3, 4);
    await pass(patienceMs);
    await end(3, 4);
    expect(seen.findLast((what) => what.startsWith('record'))).toBe('record 1 2');
  });

  it('do not wait for a suspect that never comes', async () => {
    const { begun, come } = setUp({ blamed: { 1: {}, 2: { ends: 2 }, 3: {} } });
    await come(9, 3);
    await pass(patienceMs);
    expect(begun()).toEqual([3, 9]);
  });

  it('of several partitions begin one after the other, and only the last one of them that is in work is recorded', async () => {
    const [one, other] = setUpTwo();
    await one.come(1, 2);
    await other.come(3, 4);
    expect(other.seen).toEqual([]);
    await pass(patienceMs);
    expect([one.seen.at(-1), other.seen[0]]).toEqual(['record nobody', 'record 3 4']);
    await other.end(3, 4);
    expect(one.seen.at(-1)).toBe('record 1 2');
  });

  it('of several partitions begin with one that is to be alone, then with those that are blamed', async () => {
    const turnstile = createTurnstile();
    const [last, second] = [setUp({ turnstile }), setUp({ turnstile, blamed: { 2: {}, 3: {} } })] as const;
    const first = setUp({ turnstile, blamed: { 4: {} } });
    await Promise.all([last.come(1), second.come(2), first.come(4)]);
    expect([last, second, first].map(({ begun }) => begun())).toEqual([[], [], [4]]);
    await pass(patienceMs);
    expect([last, second].map(({ begun }) => begun())).toEqual([[], [2]]);
  });

  it('go on while one that is to be alone waits for those in work', async () => {
    const [one, other] = setUpTwo({ blamed: { 4: {} } });
    await one.come(1);
    await other.come(4, 5);
    await pass(patienceMs);
    expect(other.begun()).toEqual([5]);
    await other.end(5);
    await one.end(1);
    expect(other.seen.slice(-2)).toEqual(['record 4 alone', 'begin 4']);
  });
});

describe('a suspect that is alone in work', () => {
  it('was alone at an earlier end, or is the only one of its quarter, and is recorded so if nothing else is in work', async () => {
    const { seen, come, end } = setUp({ blamed: { 1: { ends: 1 }, 2: { ends: 1 }, 3: {} } });
    await come(1, 2, 3);
    await end(1);
    await end(2);
    const expected = ['record 1 alone', 'begin 1', 'record 2 alone', 'begin 2', 'record 3 alone', 'begin 3'];
    expect(seen.filter((what) => /alone|begin/.test(what))).toEqual(expected);
  });

  it('is the last one of the process that is left, as soon as the store has it', async () => {
    const [one, other] = setUpTwo();
    await one.come(1, 2);
    await other.come(3, 4);
    await pass(patienceMs);
    await one.end(1, 2);
    await other.end(4);
    expect(other.seen.slice(-2)).toEqual(['record 3 alone', 'next after 4']);
  });

  it('is none beside which another one of the process begins: that waits for its time, and for the record', async () => {
    const [one, other] = setUpTwo();
    await one.come(1);
    expect(one.seen).toEqual(['record 1 alone', 'begin 1']);
    await other.come(2);
    one.store(true);
    await pass(5_000);
    expect(other.seen).toEqual([]);
    one.store(false);
    await pass(1_000);
    expect([one.seen.at(-1), other.seen]).toEqual(['record nobody', ['record 2', 'begin 2']]);
  });

  it('gives way at once when it has ended, even if the store fails', async () => {
    const [one, other] = setUpTwo();
    await one.come(1);
    await other.come(2);
    one.store(true);
    await one.end(1);
    expect(other.seen).toEqual(['record 2 alone', 'begin 2']);
  });

  it('is alone also beside those of a partition that was closed', async () => {
    const [one, other] = setUpTwo();
    await one.come(1, 3);
    await one.close();
    await other.come(2);
    expect(other.seen).toEqual(['record 2 alone', 'begin 2']);
  });
});

it.each([
  [2, 'handled'],
  [3, 'parked'],
  [4, 'passed over'],
  [9, 'passed over'],
])('a message that was alone at %i shutdowns is %s', async (ends, fate) => {
  const { quarantine, lines, come } = setUp({ blamed: { 1: { ends } } });
  expect(quarantine.fateOf(1)).toBe(fate);
  await come(1);
  const errors = lines.filter((line) => (line as { level: string }).level === 'error');
  expect(errors).toMatchObject(fate === 'passed over' ? [{ device: 'd1', sequenceNumber: 1, ends }] : []);
});

describe('a partition that closes', () => {
  it('abandons waiting suspects and records nothing more', async () => {
    const { seen, come, end, close } = setUp({ blamed: { 1: {}, 2: {}, 3: {}, 4: {} } });
    await come(1, 2, 3, 4);
    seen.length = 0;
    void end(1); // its crash record is on its way
    await close();
    expect(seen).toEqual(['leave 2', 'leave 3', 'leave 4', 'next after 1']);
    await end(1);
    await pass(60_000);
    expect(seen.filter((what) => what.startsWith('record'))).toEqual([]);
  });

  it('begins no later suspect, and does not delay others when its store fails', async () => {
    const [one, other] = setUpTwo();
    one.store(true);
    await one.come(1);
    await one.close();
    await one.come(2);
    expect([one.seen, one.quarantine.suspects()]).toEqual([['leave 1', 'leave 2'], 0]);
    await other.come(3);
    expect(other.begun()).toEqual([3]);
  });
});

it('operators see which suspects begin, and how many were handled until the partition drains', async () => {
  const { come, end, close, counted, lines } = setUp({ blamed: { 7: { ends: 1 } } });
  await come(1, 2, 3, 7);
  await end(7);
  await end(1, 2, 3);
  await come(8);
  await pass(patienceMs);
  await come(9);
  expect(lines).toMatchObject([
    { level: 'warn', ends: 2, upTo: 100, suspects: 1 },
    { level: 'info', suspects: 1, device: 'd7', sequenceNumber: 7, ends: 1, alone: true },
    { level: 'info', suspects: 3, from: 1, to: 3 },
    { level: 'info', suspects: 1, device: 'd8', sequenceNumber: 8, ends: 0, alone: true },
    { level: 'info', suspects: 1, device: 'd9', sequenceNumber: 9, ends: 0, alone: false },
  ]);
  await close();
  await end(8, 9);
  expect(counted()).toBe(4);
});
