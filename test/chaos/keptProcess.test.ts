import { describe, expect, it } from 'vitest';
import type { ProcessExit } from '../../sandbox/service/process.ts';
import { createKeptProcess, mostFatalEnds } from './keptProcess.ts';

/** Processes that end when the test says so; the first ones are ended by a message before they are ready. */
function setUp({ failing = 0, isStubborn = false } = {}) {
  const processes: { end(code: number | null): void }[] = [];
  let starts = 0;
  let fatalEnds = 0;
  const kept = createKeptProcess({
    async start() {
      starts += 1;
      if (starts <= failing) {
        fatalEnds += 1;
        throw new Error('ended before it was ready');
      }
      let end = (_: ProcessExit) => {};
      const exited = new Promise<ProcessExit>((resolve) => {
        end = resolve;
      });
      const ends = (code: number | null) => end({ code, signal: null, reason: '' });
      processes.push({ end: ends });
      return {
        ...{ pid: 0, readyAfterMs: 0, exited },
        async stop() {
          if (!isStubborn) ends(0);
          await exited;
        },
        kill: async () => ends(null),
      };
    },
    fatalEnds: async () => fatalEnds,
    onFatalEnd() {},
  });
  return {
    kept,
    starts: () => starts,
    async endByMessage() {
      fatalEnds += 1;
      processes.at(-1)?.end(null);
      await new Promise((resolve) => setImmediate(resolve));
    },
  };
}

describe('A process that is kept', () => {
  it('is killed only after its restart, so that there is never more than one', async () => {
    const { kept, starts, endByMessage } = setUp();
    await kept.start();
    const ended = endByMessage();
    await kept.kill();
    await kept.start();
    await ended;
    expect([starts(), kept.isUp()]).toEqual([3, true]);
  });
  it('has no exit code when a message ends it while it stops', async () => {
    const { kept, starts, endByMessage } = setUp({ isStubborn: true });
    await kept.start();
    const stopping = kept.stop();
    await new Promise((resolve) => setImmediate(resolve));
    await endByMessage();
    expect([await stopping, starts()]).toEqual([undefined, 1]);
  });
  it('is not restarted for ever', async () => {
    const { kept, starts } = setUp({ failing: 1_000 });
    await expect(kept.start()).rejects.toThrow('ended before it was ready');
    expect(starts()).toBe(mostFatalEnds);
  });
});
