import { describe, expect, it } from 'vitest';
import type { Finding } from './checker.ts';
import { stopCleanly } from './closing.ts';
import { mostFatalEnds } from './keptProcess.ts';

const flaw: Finding = { what: 'uncounted', id: 'metrics', why: 'of a look that was disturbed' };

function setUp(disturb: (round: number, at: 'look' | 'stop') => boolean, lookFails = (_: number) => false) {
  const steps: string[] = [];
  const fatalEnds: number[] = [];
  let round = 0;
  const endIf = (isSo: boolean) => {
    if (isSo) fatalEnds.push(round);
  };
  const instances = ['a', 'b'].map((name) => {
    let isUp = true;
    return {
      isUp: () => isUp,
      async start() {
        isUp = true;
        steps.push(`start ${name}`);
      },
      async stop() {
        isUp = false;
        steps.push(`stop ${name}`);
        if (name === 'a') endIf(disturb(round, 'stop'));
      },
    };
  });
  const closing = stopCleanly({
    stage: { instances, fatalEnds },
    async untilCovered() {
      round += 1;
      steps.push('cover');
    },
    async look() {
      steps.push('look');
      endIf(disturb(round, 'look'));
      if (lookFails(round)) throw new Error('no answer');
      return round === 1 ? [flaw] : [];
    },
  });
  return { closing, steps, fatalEnds, isAnyUp: () => instances.some(({ isUp }) => isUp()) };
}

const once = ['cover', 'look', 'stop a', 'stop b'];

describe('The end of a run', () => {
  it('is one stop of each, with what was seen before it', async () => {
    const { closing, steps } = setUp(() => false);
    expect([await closing, steps]).toEqual([[flaw], once]);
  });
  it('is done again, with all covered before, when a message ends an instance in the moment of its stop', async () => {
    const { closing, steps, isAnyUp } = setUp((round, at) => round === 1 && at === 'stop');
    expect([await closing, steps]).toEqual([[], [...once, 'start a', 'start b', ...once]]);
    expect(isAnyUp()).toBe(false);
  });
  it('is done again when a message ends an instance while it is asked', async () => {
    const { closing, steps } = setUp(
      (round, at) => round === 1 && at === 'look',
      (round) => round === 1,
    );
    expect([await closing, steps.filter((step) => step === 'look')]).toEqual([[], ['look', 'look']]);
  });
  it('fails with a look that fails by itself, and leaves nothing running', async () => {
    const { closing, isAnyUp } = setUp(
      () => false,
      () => true,
    );
    await expect(closing).rejects.toThrow('no answer');
    expect(isAnyUp()).toBe(false);
  });
  it('comes although a message ends every stop', async () => {
    const { closing, fatalEnds, isAnyUp } = setUp((_, at) => at === 'stop');
    expect([await closing, fatalEnds.length, isAnyUp()]).toEqual([[], mostFatalEnds + 1, false]);
  });
});
