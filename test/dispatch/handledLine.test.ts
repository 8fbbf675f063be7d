import { describe, expect, it } from 'vitest';
import { type Course, writeHandled } from '../../src/dispatch/handledLine.ts';
import type { Answered } from '../../src/dispatch/respond.ts';
import { createLog } from '../../src/log/log.ts';
import { createEnvelopeReader } from '../../src/protocol/envelope.ts';
import { messageLimits } from '../../src/settings/groups/constants.ts';
import { hubEvent } from '../support/events.ts';
import { arrivalOf } from '../support/wiring.ts';

const properties = { msgType: 'action', action: 'model.create', version: '2', correlationId: 'c-1' };
const arrival = arrivalOf(hubEvent({ properties }));
const { envelope } = createEnvelopeReader(messageLimits)('V2', properties, 'd1', 'e-1');
const handled = { envelope, card: undefined, body: undefined, json: undefined, outcome: undefined, failure: undefined };
const course: Course = { traceId: 't', waits: undefined, ms: 1.4, repliesMs: 40.4, backends: {} };

function lineOf(answered: Pick<Answered, 'sent' | 'dropped'>): Record<string, unknown> {
  const lines: string[] = [];
  const log = createLog('debug', { write: (line) => void lines.push(line) });
  writeHandled(log, arrival, handled, { failure: undefined, ...answered }, course);
  expect(lines).toHaveLength(1);
  return JSON.parse(lines[0] ?? '');
}

const drop = { kind: 'notification', device: 'd1', reason: 'queue_full' } as const;
const combinations = [0, 1, 2].flatMap((sent) => [0, 1, 10, 11].map((dropped) => [sent, dropped] as const));

describe('the line of a handled message', () => {
  it.each(combinations)(
    'with %i replies sent and %i dropped has the time of replies if there were any, all drops counted and ten named',
    (sent, count) => {
      const { level, replies, repliesMs, dropped, droppedReplies } = lineOf({ sent, dropped: Array(count).fill(drop) });
      expect({ level, replies, repliesMs, dropped, droppedReplies }).toEqual({
        level: count > 0 ? 'warn' : 'info',
        replies: sent,
        repliesMs: sent + count > 0 ? 40 : undefined,
        dropped: count > 0 ? Array(Math.min(count, 10)).fill(drop) : undefined,
        droppedReplies: count > 0 ? count : undefined,
      });
    },
  );
});
