import { describe, expect, it, vi } from 'vitest';
import type { Note } from '../../../src/hub/quarantine/note.ts';
import { createQuarantine, type Verdict } from '../../../src/hub/quarantine/quarantine.ts';
import { createLog } from '../../../src/log/log.ts';
import { withFakeTimers } from '../../support/fakeTimers.ts';

withFakeTimers();

interface Given {
  ends?: number;
  trials?: [number, number][];
  mostSuspects?: number;
}

/** A quarantine whose messages end, whose store answers and whose process falls idle when the test says so. */
function setUp({ ends = 2, trials = [], mostSuspects = 10 }: Given = {}) {
  /** What happens, in order. */
  const seen: string[] = [];
  const draining = new AbortController();
  const handled = new Map<number, (isHandled: boolean) => void>();
  const verdicts = new Map<number, Verdict>();
  let isStoreOut = false;
  let isBusy = false;
  let isHeld = false;
  const note: Note = { ends, upTo: 100, alone: undefined, trials: new Map(trials) };
  const quarantine = createQuarantine({
    note,
    async annotate({ alone, trials }) {
      if (isStoreOut) return false;
      seen.push(`note ${alone ?? 'nobody'}${trials.size > 0 ? ` of ${[...trials].map((one) => one.join(':'))}` : ''}`);
      return true;
    },
    async alone(leaving) {
      if (isBusy) await new Promise((resolve) => leaving.addEventListener('abort', resolve));
      if (leaving.aborted) return undefined;
      expect(isHeld, 'alone twice').toBe(false);
      isHeld = true;
      return () => {
        isHeld = false;
        seen.push('release');
      };
    },
    draining: draining.signal,
    longestMs: 900_000,
    mostSuspects,
    log: createLog('silent'),
  });

  async function tryOne(sequenceNumber: number, deviceId = `d${sequenceNumber}`) {
    const handle = (tooLong: AbortSignal) =>
      new Promise<boolean>((resolve) => {
        expect(isHeld, 'alone').toBe(true);
        seen.push(`begin ${sequenceNumber}`);
        handled.set(sequenceNumber, resolve);
        tooLong.addEventListener('abort', () => {
          seen.push(`break off ${sequenceNumber}`);
          resolve(false);
        });
      });
    const passOver = () => seen.push(`pass over ${sequenceNumber}`);
    void quarantine
      .try({ deviceId, sequenceNumber, handle, passOver })
      .then((verdict) => verdicts.set(sequenceNumber, verdict));
    await vi.advanceTimersByTimeAsync(0);
  }

  return {
    quarantine,
    seen,
    verdicts,
    tryOne,
    async end(sequenceNumber: number, isHandled = true) {
      handled.get(sequenceNumber)?.(isHandled);
      await vi.advanceTimersByTimeAsync(0);
    },
    pass: (ms: number) => vi.advanceTimersByTimeAsync(ms),
    async close() {
      draining.abort();
      await vi.advanceTimersByTimeAsync(0);
    },
    store(isOut: boolean) {
      isStoreOut = isOut;
    },
    others(areBusy: boolean) {
      isBusy = areBusy;
    },
  };
}

describe('a suspect', () => {
  it('is a message not newer than the last violent end, and one of so many', async () => {
    const { quarantine, tryOne } = setUp({ mostSuspects: 2 });
    expect([100, 101].map(quarantine.isSuspect)).toEqual([true, false]);
    await tryOne(1);
    expect(quarantine.isSuspect(2)).toBe(true);
    await tryOne(2);
    expect(quarantine.isSuspect(3)).toBe(false);
  });

  it('that was alone at a violent end is one in any case', async () => {
    const { quarantine, tryOne } = setUp({
      mostSuspects: 1,
      trials: [
        [7, 1],
        [9, 0],
      ],
    });
    await tryOne(1);
    expect([7, 8, 9].map(quarantine.isSuspect)).toEqual([true, false, false]);
  });

  it('is noted before it begins, and nobody else begins before its note is cleared', async () => {
    const { seen, tryOne, end, verdicts } = setUp();
    await tryOne(1);
    await tryOne(2);
    expect(seen).toEqual(['note 1', 'begin 1']);
    await end(1);
    expect(seen.slice(2)).toEqual(['note nobody', 'release', 'note 2', 'begin 2']);
    await end(2);
    expect([...verdicts]).toEqual([
      [1, 'handled'],
      [2, 'handled'],
    ]);
  });

  it('comes before the others when it was alone at a violent end, and after them when it has only been slow', async () => {
    const { seen, tryOne, end } = setUp({
      trials: [
        [3, 1],
        [4, 2],
        [2, 0],
      ],
    });
    for (const number of [1, 2, 3, 4, 5]) await tryOne(number);
    for (const number of [1, 4, 3, 5, 2]) await end(number);
    expect(seen.filter((what) => what.startsWith('begin'))).toEqual([
      'begin 1',
      'begin 4',
      'begin 3',
      'begin 5',
      'begin 2',
    ]);
  });

  it('must be parked after three violent ends at which it was alone, not after two', async () => {
    const { quarantine, tryOne, end } = setUp({
      trials: [
        [1, 3],
        [2, 2],
      ],
    });
    expect([1, 2, 3].map(quarantine.mustBeParked)).toEqual([true, false, false]);
    await tryOne(1);
    await end(1);
    expect(quarantine.mustBeParked(1)).toBe(false);
  });

  it('that ended the process even by its refusal is passed over', async () => {
    const { seen, tryOne, verdicts } = setUp({ trials: [[1, 4]] });
    await tryOne(1);
    expect(verdicts.get(1)).toBe('handled');
    expect(seen).toEqual(['note 1 of 1:4', 'pass over 1', 'note nobody', 'release']);
  });
});

describe('a suspect that takes long', () => {
  it('is broken off after 15 s; the next ones have their turn, and then it runs beside others', async () => {
    const { seen, tryOne, end, pass, verdicts, quarantine } = setUp();
    await tryOne(1);
    await tryOne(2);
    await pass(14_999);
    expect(seen).toEqual(['note 1', 'begin 1']);
    await pass(1);
    expect(seen.slice(2)).toEqual(['break off 1', 'note nobody of 1:0', 'release', 'note 2 of 1:0', 'begin 2']);
    expect(verdicts.get(1)).toBeUndefined();
    await end(2);
    expect([...verdicts]).toEqual([
      [2, 'handled'],
      [1, 'cleared'],
    ]);
    expect(quarantine.isSuspect(3)).toBe(false);
  });

  it.each([
    [3, 30_000],
    [4, 60_000],
    [30, 900_000],
  ])(
    'has longer with each further violent end, up to what a message may take: after %i ends %i ms',
    async (ends, ms) => {
      const { seen, tryOne, pass } = setUp({ ends });
      await tryOne(1);
      await pass(ms - 1);
      expect(seen.at(-1)).toBe('begin 1');
      await pass(1);
      expect(seen).toContain('break off 1');
    },
  );

  it('and three others like it end the trials: nobody is held up for longer', async () => {
    const { seen, tryOne, pass, verdicts } = setUp();
    for (const number of [1, 2, 3, 4, 5]) await tryOne(number);
    await pass(60_000);
    expect([...verdicts]).toEqual([5, 1, 2, 3, 4].map((number) => [number, 'cleared']));
    expect(seen).not.toContain('begin 5');
  });

  it('in vain to be alone lets the others go on, and is released after the fourth time', async () => {
    const { seen, tryOne, pass, others, verdicts } = setUp();
    others(true);
    await tryOne(1);
    await pass(59_999);
    expect(verdicts.size).toBe(0);
    await pass(1);
    expect([seen, verdicts.get(1)]).toEqual([[], 'cleared']);
  });
});

describe('a store that fails', () => {
  it('when a suspect is to be noted keeps it from beginning, and nobody else', async () => {
    const { seen, tryOne, pass, store } = setUp();
    store(true);
    await tryOne(1);
    expect(seen).toEqual(['release']);
    await pass(1_000);
    expect(seen).toEqual(['release', 'release']);
    store(false);
    await pass(1_000);
    expect(seen.slice(2)).toEqual(['note 1', 'begin 1']);
  });

  it('when the note is to be cleared holds others up until it answers, 15 s at the longest', async () => {
    const { seen, tryOne, end, pass, store } = setUp();
    await tryOne(1);
    store(true);
    await end(1);
    await pass(10_000);
    expect(seen.at(-1)).toBe('begin 1');
    await pass(5_500);
    expect(seen.at(-1)).toBe('release');
  });
});

describe('a partition that closes', () => {
  it('leaves those that wait, and waits for the one that is being tried', async () => {
    const { seen, tryOne, end, close, verdicts, quarantine } = setUp();
    await tryOne(1);
    await tryOne(2);
    await close();
    expect([...verdicts]).toEqual([[2, 'unfinished']]);
    expect(quarantine.isTrying()).toBe(true);
    await end(1);
    expect(verdicts.get(1)).toBe('handled');
    expect(seen.at(-2)).toBe('note nobody');
    expect(quarantine.isTrying()).toBe(false);
  });

  it('leaves one that could not be handled to its end', async () => {
    const { tryOne, end, close, verdicts } = setUp();
    await tryOne(1);
    await close();
    await end(1, false);
    expect(verdicts.get(1)).toBe('unfinished');
  });

  it('leaves one that waits to be alone', async () => {
    const { tryOne, close, others, verdicts } = setUp();
    others(true);
    await tryOne(1);
    await close();
    expect(verdicts.get(1)).toBe('unfinished');
  });
});
