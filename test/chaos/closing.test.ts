import { describe, expect, it } from 'vitest';
import type { Finding } from './checker.ts';
import { stopCleanly } from './closing.ts';

const flawOf = (round: number): Finding => ({ what: 'uncounted', id: 'metrics', why: `seen in round ${round}` });

/** @param disturbed the round in which a message ends an instance */
function setUp({ disturbed = 0, lookFails = false }) {
  const steps: string[] = [];
  const fatalEnds: number[] = [];
  let round = 0;
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
        if (name === 'a' && round === disturbed) fatalEnds.push(round);
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
      if (lookFails) throw new Error('no answer');
      return [flawOf(round)];
    },
  });
  return { closing, steps, isAnyUp: () => instances.some(({ isUp }) => isUp()) };
}

const once = ['cover', 'look', 'stop a', 'stop b'];

describe('The end of a run', () => {
  it('is done again, with all covered before, when a message ends an instance in the moment of its stop', async () => {
    const { closing, steps, isAnyUp } = setUp({ disturbed: 1 });
    expect([await closing, steps]).toEqual([[flawOf(2)], [...once, 'start a', 'start b', ...once]]);
    expect(isAnyUp()).toBe(false);
  });
  it('fails with a look that fails by itself, and leaves nothing running', async () => {
    const { closing, isAnyUp } = setUp({ lookFails: true });
    await expect(closing).rejects.toThrow('no answer');
    expect(isAnyUp()).toBe(false);
  });
});
