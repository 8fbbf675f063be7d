import { expect, it, vi } from 'vitest';
import type { SendRefusal } from '../../src/hub/replies/sendFailure.ts';
import { createMeter } from '../../src/metrics/meter.ts';
import { readingOf } from '../support/observed.ts';
import { withFakeTimers } from '../support/waiting.ts';
import { replyTo, senderOver } from './support/replying.ts';

withFakeTimers();

it('each attempt to send a reply is recorded, with its duration and the reason why the hub did not take it', async () => {
  const answers: (SendRefusal | undefined)[] = [{ kind: 'later', reason: 'throttled' }, undefined];
  const meter = createMeter();
  const sender = senderOver(
    async (_, onSent) => {
      await new Promise((resolve) => setTimeout(resolve, 5_000)); // connects
      onSent();
      await new Promise((resolve) => setTimeout(resolve, 250));
      return answers.shift();
    },
    { meter },
  );
  const sending = sender.send(replyTo('a'));
  await vi.advanceTimersByTimeAsync(60_000);
  expect(await sending).toBe('delivered');
  expect(readingOf(meter, 'messaging.client.operation.duration')).toEqual({ throttled: 1, '': 1 });
  const reading = meter.readings().find(({ name }) => name === 'messaging.client.operation.duration');
  for (const { sum } of reading?.read() ?? []) expect(sum).toBeCloseTo(0.25);
});
