import { expect, it, vi } from 'vitest';
import { createLog } from '../../src/observing/log.ts';
import { beginReply, createMessageRecords } from '../../src/observing/messageRecords.ts';
import { createMeter, summaryOf } from '../../src/observing/metrics.ts';
import { createTaps, type TapEvent } from '../../src/observing/taps.ts';
import { createEnvelopeReader } from '../../src/protocol/envelope.ts';
import type { Reply } from '../../src/protocol/reply.ts';
import type { Delivery } from '../../src/protocol/vocabulary.ts';
import { messageLimits } from '../../src/settings/constants.ts';
import { codesIn, readPage, tableOf } from '../docs/markdown.ts';
import { hubEvent } from '../support/events.ts';
import { readingOf } from '../support/observed.ts';
import { withFakeTimers } from '../support/waiting.ts';
import { receivedMessageOf } from '../support/wiring.ts';
import { messages } from './chapters/messages.ts';
import { recordedCourse, recordedSpans } from './support/recordedSpans.ts';

withFakeTimers();

const properties = { msgType: 'action', action: 'model.create', version: '2', correlationId: 'c-1' };
const receivedMessage = receivedMessageOf(hubEvent({ properties }));
const { envelope } = createEnvelopeReader(messageLimits)('V2', properties, 'd1', 'e-1');

/** Begins a message of the device `d1`, which has a follower. */
function setUp() {
  const told: TapEvent[] = [];
  const taps = createTaps();
  taps.open({ device: 'd1', follow: (event) => told.push(event) });
  const { traces, spans } = recordedSpans();
  const meter = createMeter();
  const records = createMessageRecords({ log: createLog('silent'), meter, taps, traces });
  const observation = records.begin(receivedMessage, envelope, 'model.create', undefined);
  return { records, observation, meter, spans, last: () => told.at(-1) };
}

it('a message that is parked has a step until it is written, and its followers are told its result', () => {
  const { observation, last } = setUp();
  const parking = observation.parks('internal_platform_error');
  const step = { kind: 'parking', what: 'internal_platform_error', of: 'store of dead letters', waitsFor: 'answer' };
  expect([...observation.open]).toMatchObject([step]);
  vi.advanceTimersByTime(5);
  expect(last()).toMatchObject({ stage: 'begun' });
  parking.waits();
  expect([...observation.open]).toMatchObject([{ ...step, waitsFor: 'retry' }]);
  parking.ended(true);
  expect([observation.open.size, last()]).toMatchObject([0, { stage: 'parked', code: 'internal_platform_error' }]);
});

it('a message whose dead letter is refused has no step any more, and its followers are not told that it is one', () => {
  const { observation, last } = setUp();
  observation.parks('internal_platform_error').ended(false);
  expect([observation.open.size, last()]).toMatchObject([0, { stage: 'begun' }]);
});

it('the line has at most 128 characters of what the device has chosen, and nothing of what it has left out', () => {
  const lines: Record<string, unknown>[] = [];
  const log = createLog('info', { write: (line) => void lines.push(JSON.parse(line)) });
  const { begin } = createMessageRecords({ log, meter: createMeter() });
  const long = { name: 'n'.repeat(200), correlationId: 'c'.repeat(200) };
  begin(receivedMessage, { ...envelope, ...long }, undefined, undefined).ended(undefined);
  begin(receivedMessage, { ...envelope, name: undefined, correlationId: undefined }, undefined, undefined).ended(
    undefined,
  );
  expect(lines[0]).toMatchObject({ message: 'n'.repeat(128), correlationId: 'c'.repeat(128) });
  expect(Object.keys(lines[1] ?? {})).not.toEqual(expect.arrayContaining([expect.stringMatching(/^(message|corr)/)]));
});

it('followers are told of no drops and remarks when there are none', () => {
  const { observation, last } = setUp();
  observation.decoded(undefined);
  expect(last()).toMatchObject({ stage: 'decoded', characters: undefined });
  observation.answers();
  observation.ended(undefined);
  expect(last()).toEqual({
    ...{ time: expect.any(String), stage: 'handled', device: 'd1', partition: expect.any(String) },
    ...{ sequenceNumber: expect.any(Number), code: 'ok', ack: envelope.ack },
    ...{ ms: 0, repliesMs: 0, replies: 0, backends: {} },
  });
});

it('a message that is left ends its span and is told, and one that a defect has ended is counted', () => {
  const left = setUp();
  left.observation.left();
  expect(left.last()).toMatchObject({ stage: 'left', why: 'this instance no longer reads the partition' });
  expect(left.spans[0]?.ends).toEqual([[{}, { type: 'released' }]]);
  const broken = setUp();
  broken.records.broke('V2', broken.observation);
  broken.records.broke('V1', undefined);
  expect(broken.spans[0]?.ends).toEqual([[{}, { type: 'unforeseen' }]]);
  const expected = { 'internal_platform_error _OTHER V2': 1, 'internal_platform_error _OTHER V1': 1 };
  expect(readingOf(broken.meter, 'device_messaging.handled.messages')).toEqual(expected);
});

const reply: Reply = {
  ...{ kind: 'acknowledgement', deviceId: 'd1', messageId: 'm-1', correlationId: 'c-1' },
  ...{ properties: { msgType: 'ack' }, body: '{"é":1}' },
};

it.each<[delivery: Delivery, outcome: string, error: string | undefined]>([
  ['delivered', 'delivered', undefined],
  ['stopped', 'stopped', 'stopped'],
  [{ dropped: 'queue_full' }, 'dropped: queue_full', 'queue_full'],
])('a reply that is %j is told with what it waited for, as a step, a span and events', (delivery, outcome, error) => {
  const { observation, told, spans } = recordedCourse();
  const ends: Delivery[] = [];
  vi.advanceTimersByTime(1_000);
  const begun = beginReply(observation, reply, (settled) => ends.push(settled));
  const waitsFor = () => [...observation.open].map((step) => step.waitsFor);
  expect([...observation.open]).toMatchObject([{ kind: 'reply', what: 'acknowledgement', of: 'd1', waitsFor: 'turn' }]);
  begun.waits('turn');
  expect(told.length).toBe(1);
  begun.waits('hub');
  expect(waitsFor()).toEqual(['hub']);
  begun.refused('throttled');
  expect(waitsFor()).toEqual(['throttled']);
  vi.advanceTimersByTime(40.4);
  begun.ended(delivery);

  expect([observation.open.size, ends]).toEqual([0, [delivery]]);
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

const summary = {
  ...{ skipped: 24, misspellings: 27, unattributed: 25, undecodable: 26, succeeded: 51, failed: 565 },
  ...{ parked: 21, notParked: 22, repliesDelivered: 62, repliesDropped: 532 },
};

it('the last line of the log has each count under its own name', async () => {
  const meter = createMeter();
  await messages.record(meter);
  expect(summaryOf(meter)).toEqual(summary);
});

it('docs/operations.md has the counts of the last line', () => {
  const listed = tableOf(readPage('operations.md'), 'counter').flatMap((row) => codesIn(row['counter'] ?? ''));
  expect(listed.sort()).toEqual(Object.keys(summary).sort());
});
