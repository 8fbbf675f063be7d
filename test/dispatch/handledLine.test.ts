import { expect, it, vi } from 'vitest';
import { createLog } from '../../src/observing/log.ts';
import { createMessageRecords } from '../../src/observing/messageRecords.ts';
import { noMeter } from '../../src/observing/metrics.ts';
import { createEnvelopeReader } from '../../src/protocol/envelope.ts';
import type { Reply } from '../../src/protocol/reply.ts';
import { messageLimits } from '../../src/settings/constants.ts';
import { hubEvent } from '../support/events.ts';
import { withFakeTimers } from '../support/waiting.ts';
import { receivedMessageOf } from '../support/wiring.ts';

withFakeTimers();

const properties = { msgType: 'action', action: 'model.create', version: '2', correlationId: 'c-1' };
const receivedMessage = receivedMessageOf(hubEvent({ properties }));
const { envelope } = createEnvelopeReader(messageLimits)('V2', properties, 'd1', 'e-1');
const reply: Reply = {
  ...{ kind: 'notification', deviceId: 'd1', messageId: 'm-1', correlationId: 'c-1', properties: {}, body: '{}' },
};

/** The line of a message some of whose replies, which take 40 ms, are dropped. */
function lineOf(sent: number, dropped: number): Record<string, unknown> {
  const lines: string[] = [];
  const log = createLog('debug', { write: (line) => void lines.push(line) });
  const observation = createMessageRecords({ log, meter: noMeter }).begin(
    receivedMessage,
    envelope,
    'model.create',
    undefined,
  );
  vi.advanceTimersByTime(5);
  observation.answers();
  const replies = Array.from({ length: sent + dropped }, () => observation.reply(reply));
  vi.advanceTimersByTime(40);
  for (const [index, one] of replies.entries()) one.ended(index < sent ? 'delivered' : { dropped: 'queue_full' });
  vi.advanceTimersByTime(1_000); // parking
  observation.ended(undefined);
  expect(lines).toHaveLength(1);
  return JSON.parse(lines[0] ?? '');
}

const drop = { kind: 'notification', device: 'd1', reason: 'queue_full' } as const;
const combinations = [0, 1, 2].flatMap((sent) => [0, 1, 10, 11].map((dropped) => [sent, dropped] as const));

it.each(combinations)(
  'the line of a handled message with %i replies sent and %i dropped has the time of replies, if any, the number of drops and the first ten of them',
  (sent, count) => {
    const { level, replies, repliesMs, dropped, droppedReplies } = lineOf(sent, count);
    expect({ level, replies, repliesMs, dropped, droppedReplies }).toEqual({
      level: count > 0 ? 'warn' : 'info',
      replies: sent,
      repliesMs: sent + count > 0 ? 40 : undefined,
      dropped: count > 0 ? Array(Math.min(count, 10)).fill(drop) : undefined,
      droppedReplies: count > 0 ? count : undefined,
    });
  },
);
