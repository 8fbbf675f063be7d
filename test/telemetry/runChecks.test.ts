import { runChecks } from '@device-messaging/telemetry/check.ts';
import { expect, it, vi } from 'vitest';

async function all(checks: Parameters<typeof runChecks>[0], limitMs?: number) {
  const found = [];
  for await (const finding of runChecks(checks, limitMs)) found.push(finding);
  return found;
}

it('runs checks together, reports them in their order, and leaves no timer', async () => {
  let open = () => {};
  const gate = new Promise<void>((resolve) => {
    open = resolve;
  });
  const slow = { what: 'a', look: () => gate.then(() => 'slow') };
  const quick = {
    what: 'b',
    async look() {
      open(); // reached although the first has not ended
      return 'quick';
    },
  };
  vi.useFakeTimers();
  expect((await all([slow, quick])).map(({ what }) => what)).toEqual(['a', 'b']);
  expect(vi.getTimerCount()).toBe(0);
});

it('waits for no check longer than the limit', async () => {
  const never = { what: 'a', look: () => new Promise<never>(() => {}) };
  const [found] = await all([never], 10);
  expect(found).toEqual({
    ...{ what: 'a', mark: 'failure', found: 'no answer within 0.01 s', isOutage: true },
    todo: 'look at the network between, or wait',
  });
});

it('reports a check that fails itself, and goes on', async () => {
  const broken = { what: 'a', look: () => Promise.reject(new Error('a defect')) };
  const found = await all([broken, { what: 'b', look: async () => ['fine'] }]);
  expect(found).toMatchObject([
    { mark: 'failure', found: 'a defect', todo: 'this check has failed itself' },
    { mark: 'ok' },
  ]);
});
