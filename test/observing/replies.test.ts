import { expect, it, vi } from 'vitest';
import { beginReply } from '../../src/observing/replyCourse.ts';
import type { Reply } from '../../src/protocol/reply.ts';
import type { Delivery } from '../../src/protocol/vocabulary.ts';
import { courseOf } from '../support/observed.ts';
import { withFakeTimers } from '../support/waiting.ts';
import { recordedCourse } from './support/recordedSpans.ts';

withFakeTimers();

const reply: Reply = {
  ...{ kind: 'acknowledgement', deviceId: 'd1', messageId: 'm-1', correlationId: 'c-1' },
  ...{ properties: { msgType: 'ack' }, body: '{"é":1}' },
};

it.each<[delivery: Delivery, outcome: string, error: string | undefined]>([
  ['delivered', 'delivered', undefined],
  ['stopped', 'stopped', 'stopped'],
  [{ dropped: 'queue_full' }, 'dropped: queue_full', 'queue_full'],
])('a reply that is %j is told with what it waited for, as a step, a span and events', (delivery, outcome, error) => {
  const { course, told, spans } = recordedCourse();
  const ends: Delivery[] = [];
  vi.advanceTimersByTime(1_000);
  const begun = beginReply(course, reply, (settled) => ends.push(settled));
  const waitsFor = () => [...course.open].map((step) => step.waitsFor);
  expect([...course.open]).toMatchObject([{ kind: 'reply', what: 'acknowledgement', of: 'd1', waitsFor: 'turn' }]);
  begun.waits('turn');
  expect(told.length).toBe(1);
  begun.waits('hub');
  expect(waitsFor()).toEqual(['hub']);
  begun.refused('throttled');
  expect(waitsFor()).toEqual(['throttled']);
  vi.advanceTimersByTime(40.4);
  begun.ended(delivery);

  expect([course.open.size, ends]).toEqual([0, [delivery]]);
  const to = { kind: 'acknowledgement', to: 'd1' };
  expect(told).toEqual([
    ['reply waits', { ...to, for: 'its turn' }],
    ['refused', { ...to, reason: 'throttled' }],
    [
      'reply',
      { ...to, outcome, ms: 40, messageId: 'm-1', correlationId: 'c-1', properties: { msgType: 'ack' }, bytes: 8 },
      { body: '{"é":1}' },
    ],
  ]);
  expect(spans[1]).toEqual({
    ...{ name: 'send acknowledgement', kind: 'producer', parent: 'root' },
    attributes: {
      ...{ 'messaging.system': 'iothub', 'messaging.operation.name': 'send', 'messaging.operation.type': 'send' },
      ...{ 'messaging.destination.name': 'devicebound', 'messaging.message.id': 'm-1' },
      ...{ 'messaging.message.conversation_id': 'c-1', 'messaging.message.body.size': 8, 'svc.device.id': 'd1' },
    },
    events: [['attempt failed', { 'error.type': 'throttled' }]],
    ends: [[{}, error && { type: error }]],
  });
});

it('a reply needs neither followers nor spans', () => {
  const course = courseOf();
  const begun = beginReply(course, reply, () => {});
  begun.waits('turn');
  begun.refused('throttled');
  begun.ended('delivered');
  expect(course.open.size).toBe(0);
});
