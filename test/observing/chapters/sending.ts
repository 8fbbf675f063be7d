import { vi } from 'vitest';
import type { SendRefusal } from '../../../src/hub/replies/sendFailure.ts';
import { replyTo, senderOver } from '../../hub/support/replying.ts';
import type { Chapter } from '../support/points.ts';

/** How long the hub takes for an attempt, in ms, and why it does not take the reply. */
const attempts: readonly [ms: number, reason: SendRefusal['reason'] | undefined][] = [
  [801, undefined],
  [802, 'hub_unavailable'],
  [803, 'queue_full'],
  [804, 'throttled'],
  [805, 'unanswered'],
  [806, 'not_taken'],
  [807, 'unknown_device'],
  [808, 'too_large'],
  [809, 'refused'],
  [810, 'quota'],
  [811, 'suspended'],
];

/** Replies on their way to the hub. */
export const sending: Chapter = {
  async record(meter) {
    for (const [ms, reason] of attempts) {
      const sender = senderOver(
        async () => {
          await new Promise((resolve) => setTimeout(resolve, ms));
          return reason && { kind: 'never', reason };
        },
        { meter },
      );
      const sent = sender.send(replyTo('d1'));
      await vi.advanceTimersByTimeAsync(ms);
      await sent;
    }
  },
  points: {
    'messaging.client.operation.duration': Object.fromEntries(
      attempts.map(([ms, reason]) => [reason ? `error.type=${reason}` : '', ms / 1_000]),
    ),
  },
};
