import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { createReconnecting } from '../../edge/src/connections/reconnecting.ts';
import { createLog } from '../../edge/src/operations/log.ts';

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

it('the log reports each minute for how long a peer cannot be reached, until it is reached', async () => {
  const lines: Record<string, unknown>[] = [];
  let isUp = false;
  const hub = createReconnecting({
    name: 'the hub',
    open: async () => {
      if (!isUp) throw new Error('connection refused');
      return { closed: new Promise<string>(() => {}), close: async () => {} };
    },
    log: createLog('info', { write: (line) => void lines.push(JSON.parse(line)) }),
    backoff: { initialMs: 1_000, maxMs: 10_000, stableAfterMs: 60_000 },
    unstableMessage:
      'the hub closes each connection soon after it opens: does another program use the identity of this proxy?',
  });
  await vi.advanceTimersByTimeAsync(125_000);
  const waiting = { event: 'hub.waiting', reason: 'connection refused' };
  expect(lines).toMatchObject([waiting, { ...waiting, forSeconds: 60 }, { ...waiting, forSeconds: 120 }]);
  expect(Number(lines[2]?.['attempts'])).toBeGreaterThan(Number(lines[1]?.['attempts']));
  isUp = true;
  await vi.advanceTimersByTimeAsync(200_000);
  expect(lines.slice(3)).toMatchObject([{ event: 'hub.connected' }]);
  await hub.close();
  expect(vi.getTimerCount()).toBe(0);
});
