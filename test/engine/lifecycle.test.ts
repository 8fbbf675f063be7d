import { describe, expect, it, onTestFinished } from 'vitest';
import { createLifecycle } from '../../src/engine/partition/partition.ts';

function setUp() {
  let drained = 0;
  const life = createLifecycle(() => (drained += 1));
  const signals = () => [life.draining.aborted, life.ended.aborted];
  return { life, signals, drained: () => drained };
}

describe('the life of a partition', () => {
  it('goes from reading to draining to released, and its drain begins once', () => {
    const { life, signals, drained } = setUp();
    expect([life.state(), signals(), drained()]).toEqual(['reading', [false, false], 0]);
    life.drain();
    life.drain();
    expect([life.state(), signals(), drained()]).toEqual(['draining', [true, false], 1]);
    life.release();
    expect([life.state(), signals(), drained()]).toEqual(['released', [true, true], 1]);
    life.drain();
    expect([life.state(), drained()]).toEqual(['released', 1]);
  });

  it('ends with its revocation from any state, and stays revoked', () => {
    for (const before of [[], ['drain'], ['release'], ['drain', 'release']] as const) {
      const { life, signals, drained } = setUp();
      for (const step of before) life[step]();
      life.revoke();
      expect([life.state(), signals(), drained()]).toEqual(['revoked', [true, true], 1]);
      life.release();
      expect(life.state()).toBe('revoked');
    }
  });

  it('can have a listener for each message in flight, without a warning of Node.js', async () => {
    const { life } = setUp();
    const warnings: string[] = [];
    const note = ({ name }: Error) => warnings.push(name);
    process.on('warning', note);
    onTestFinished(() => void process.off('warning', note));
    for (const signal of [life.draining, life.ended]) {
      for (let message = 0; message < 30; message += 1) signal.addEventListener('abort', () => {});
    }
    await new Promise((resolve) => setImmediate(resolve));
    expect(warnings).toEqual([]);
  });
});
