import { expect, it, vi } from 'vitest';
import { replyTo, senderOver } from './support/replying.ts';

it('a hundred thousand devices at most are remembered as not fetching: those that were known longest go (D19)', async () => {
  vi.stubGlobal('setTimeout', (wake: () => void) => queueMicrotask(wake)); // no pause before the next attempt
  const sender = senderOver(async () => ({ kind: 'later', reason: 'queue_full' }), { maxWaitMs: 0 });
  for (let device = 0; device <= 100_000; device += 1) await sender.send(replyTo(String(device)));
  vi.unstubAllGlobals();
  const known = new Set(sender.notFetching());
  expect([known.size, known.has('0'), known.has('1'), known.has('100000')]).toEqual([100_000, false, true, true]);
});
