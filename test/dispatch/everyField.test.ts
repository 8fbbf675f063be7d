import { describe, expect, it, vi } from 'vitest';
import { createLog } from '../../src/observing/log.ts';
import { createMessageRecords } from '../../src/observing/messageRecords.ts';
import { createMeter } from '../../src/observing/metrics.ts';
import { createTaps, type TapEvent } from '../../src/observing/taps.ts';
import { createEnvelopeReader } from '../../src/protocol/envelope.ts';
import type { Reply } from '../../src/protocol/reply.ts';
import { messageLimits } from '../../src/settings/constants.ts';
import { codesIn, readPage, tableOf } from '../docs/markdown.ts';
import { hubEvent } from '../support/events.ts';
import { readingOf, sumsOf } from '../support/observed.ts';
import { type Script, scriptedBackend } from '../support/scriptedBackend.ts';
import { withFakeTimers } from '../support/waiting.ts';
import { forever, receivedMessageOf, wire } from '../support/wiring.ts';
import { device, devicePrincipal, otherPumpId, problem, pump, pumpAnswer, pumpId, pumpType } from '../support/world.ts';

// Each field of a message's line has a value of its own: two that are swapped, or one that tells of another, show.

withFakeTimers();

const traceId = '0af7651916cd43dd8448eb211c80319c';

interface Given {
  readonly properties: object;
  readonly body: object;
  readonly script: Script;
  readonly delays: readonly number[];
  /** What becomes of the replies, each after 1,000 ms. */
  readonly deliveries: readonly ('delivered' | 'queue_full')[];
  /** It comes from the dead letters, not from the hub. */
  readonly isReplayed?: boolean;
}

/** Handles a message that the hub got 300 ms before it was read, and that waited 70 ms then. */
async function handled({ properties, body, script, delays, deliveries, isReplayed = false }: Given) {
  const after = (ms = 0) => new Promise((resolve) => setTimeout(resolve, ms));
  const backend = scriptedBackend(script);
  const lines: string[] = [];
  const told: TapEvent[] = [];
  const [left, comings] = [[...delays], [...deliveries]];
  const taps = createTaps();
  taps.open({ device: 'd1', follow: (event) => told.push(event) });
  const { backends, dispatch, meter } = wire({
    async adapter(config) {
      await after(left.shift());
      return backend.adapter(config);
    },
    async send() {
      await after(1_000);
      const delivery = comings.shift();
      return delivery === 'queue_full' ? { dropped: delivery } : (delivery ?? 'stopped');
    },
    deadLetters: { park: async () => {}, remove: async () => {} },
    ...{ taps, log: createLog('debug', { write: (line) => void lines.push(line) }) },
  });
  const sent = { traceparent: `00-${traceId}-b7ad6b7169203331-01`, ...properties };
  const event = { ...hubEvent({ properties: sent, body, sequenceNumber: 81 }), enqueuedTimeUtc: new Date() };
  await vi.advanceTimersByTimeAsync(300);
  const readAt = performance.now();
  await vi.advanceTimersByTimeAsync(70);
  const receivedMessage = { ...receivedMessageOf(event, true), origin: { hub: 'hub', partition: '12' }, attempts: 3 };
  const handling = dispatch(receivedMessage, { ...forever, ...(!isReplayed && { readAt }) });
  await vi.advanceTimersByTimeAsync(60_000);
  expect(await handling).toBe(true);
  await backends.close();
  backend.verify();
  const [line = '{}', ...others] = lines;
  expect(others).toEqual([]);
  return { line: JSON.parse(line), told, meter };
}

const created = {
  properties: { msgType: 'action', action: 'model.create', version: 2, correlationId: 'c-7', ack: 'all' },
  body: { model: 'svc.device', type: 'pump', properties: { serial: 'FP-1' } },
  script: [
    { call: device.call, reply: [503] },
    device,
    { call: pumpType.call, reply: [503] },
    { call: pumpType.call, reply: [503] },
    pumpType,
    { call: 'POST /query', reply: [503] },
    { call: 'POST /query', reply: [200, { data: [] }] },
    { call: `POST /object?owner=${devicePrincipal}`, reply: [201, pumpAnswer()] },
    { call: `GET /objects/${pumpId}/models/svc.configuration`, reply: [403] },
  ],
  delays: [10, 11, 21, 22, 23, 43, 31, 32, 33],
  deliveries: ['delivered'],
} as const satisfies Given;

const contained = { name: 'feeds', attributes: { isContained: true } };
const missing = 'cccccccc-cccc-4ccc-8ccc-cccccccccccc';
const at = (objectId: string) => `GET /objects/${objectId}/models/svc.device`;
const synchronised = {
  properties: {
    ...{ 'svc-messagetype': 'platformEvent', eventType: 'Svc.Device.SyncModel', id: 'c-8', ack: 'negative' },
    ...{ objectId: pumpId, model: 'svc.device' },
  },
  body: { contained: true },
  script: [
    { call: at(pumpId), reply: [200, pump()] },
    {
      call: `${at(pumpId)}/references/out`,
      reply: [
        200,
        { data: [otherPumpId, missing].map((objectId) => ({ ...contained, to: { objectId, model: 'svc.device' } })) },
      ],
    },
    { call: at(otherPumpId), reply: [200, pump({ objectId: otherPumpId })] },
    { call: at(missing), reply: problem(404, 'Not found') },
  ],
  delays: [41, 42, 43, 44],
  deliveries: ['delivered', 'queue_full', 'delivered'],
} as const satisfies Given;

const common = {
  ...{ time: expect.any(String), msg: 'handled', device: 'd1', traceId },
  ...{ partition: '12', sequenceNumber: 81, hubWaitMs: 300, laneWaitMs: 70 },
};
const backendTimes = {
  principalManager: { calls: 1, attempts: 2, ms: 22 },
  typeRegistry: { calls: 1, attempts: 3, ms: 68 },
  informationModel: { calls: 3, attempts: 4, ms: 140 },
};

const lines = {
  success: {
    ...common,
    level: 'info',
    ...{ message: 'model.create', code: 'ok', correlationId: 'c-7', ack: 'all' },
    ms: 230,
    backends: backendTimes,
    ...{ replies: 1, repliesMs: 1_000 },
    remarks: ['no notification of svc.configuration: information model: read object model failed with HTTP 403'],
  },
  failure: {
    ...common,
    level: 'warn',
    ...{ message: 'Svc.Device.SyncModel', code: 'delivery_failed', correlationId: 'c-8', ack: 'negative' },
    details: 'a notification could not be handed to the hub',
    ms: 127,
    backends: { informationModel: { calls: 4, attempts: 4, ms: 170 } },
    ...{ replies: 2, repliesMs: 3_000 },
    ...{ dropped: [{ kind: 'notification', device: 'd1', reason: 'queue_full' }], droppedReplies: 1 },
    remarks: [`svc.device of ${missing} is not there`],
  },
};

describe('a handled message', () => {
  it('is one line of the log, after a success', async () =>
    expect((await handled(created)).line).toEqual(lines.success));
  it('is one line of the log, after a failure and with a dropped reply', async () =>
    expect((await handled(synchronised)).line).toEqual(lines.failure));
  it('is logged without waits when it comes from the dead letters', async () => {
    const { hubWaitMs: _, laneWaitMs: __, ...others } = lines.success;
    expect((await handled({ ...created, isReplayed: true })).line).toEqual(others);
  });

  it('is shown to the taps on the device', async () => {
    const { told } = await handled(synchronised);
    const stage = (name: string) => told.filter((one) => one.stage === name);
    const place = { time: expect.any(String), device: 'd1', partition: '12', sequenceNumber: 81 };
    const { message, correlationId, ack, laneWaitMs } = lines.failure;
    const begun = { message, generation: 'V1', correlationId, traceId, ack, laneWaitMs };
    expect(stage('begun')).toEqual([{ ...place, stage: 'begun', ...begun, redelivered: true, parkedBefore: 3 }]);
    const { code, details, ms, repliesMs, replies, dropped, backends, remarks } = lines.failure;
    const result = { code, details, ack, ms, repliesMs, replies, dropped, backends, remarks };
    expect(stage('handled')).toEqual([{ ...place, stage: 'handled', ...result }]);
  });

  it('is counted with the times of its line', async () => {
    const { meter } = await handled(created);
    expect(sumsOf(meter, 'messaging.process.duration')).toEqual({ 'model.create V2': 0.23 });
    expect(sumsOf(meter, 'device_messaging.wait.duration')).toEqual({ hub: 0.3, lane: 0.07 });
    expect(sumsOf(meter, 'device_messaging.replies.duration')).toEqual({ '': 1 });
    expect(readingOf(meter, 'device_messaging.replies')).toEqual({ delivered: 1 });
  });
});

it('docs/operations.md has the fields of the line', () => {
  const listed = tableOf(readPage('operations.md'), 'field').flatMap((row) => codesIn(row['field'] ?? ''));
  const written = new Set(Object.values(lines).flatMap(Object.keys));
  expect(listed.sort()).toEqual([...written].filter((field) => !['level', 'time', 'msg'].includes(field)).sort());
});

const properties = { msgType: 'action', action: 'model.create', version: '2', correlationId: 'c-1' };
const receivedMessage = receivedMessageOf(hubEvent({ properties }));
const { envelope } = createEnvelopeReader(messageLimits)('V2', properties, 'd1', 'e-1');
const reply: Reply = {
  ...{ kind: 'notification', deviceId: 'd1', messageId: 'm-1', correlationId: 'c-1', properties: {}, body: '{}' },
};

/** The line of a message some of whose replies, which take 40 ms, are dropped, and the metric of their time. */
function lineOf(sent: number, dropped: number): Record<string, unknown> {
  const lines: string[] = [];
  const log = createLog('debug', { write: (line) => void lines.push(line) });
  const meter = createMeter();
  const observation = createMessageRecords({ log, meter }).begin(receivedMessage, envelope, 'model.create', undefined);
  vi.advanceTimersByTime(5);
  observation.answers();
  const replies = Array.from({ length: sent + dropped }, () => observation.reply(reply));
  vi.advanceTimersByTime(40);
  for (const [index, one] of replies.entries()) one.ended(index < sent ? 'delivered' : { dropped: 'queue_full' });
  vi.advanceTimersByTime(1_000); // parking
  observation.ended(undefined);
  expect(lines).toHaveLength(1);
  return { ...JSON.parse(lines[0] ?? ''), metric: sumsOf(meter, 'device_messaging.replies.duration')[''] };
}

const drop = { kind: 'notification', device: 'd1', reason: 'queue_full' } as const;
const combinations = [0, 1, 2].flatMap((sent) => [0, 1, 10, 11].map((dropped) => [sent, dropped] as const));

it.each(combinations)(
  'the line of a handled message with %i replies sent and %i dropped has the time of replies, if any, the number of drops and the first ten of them',
  (sent, count) => {
    const { level, replies, repliesMs, metric, dropped, droppedReplies } = lineOf(sent, count);
    expect({ level, replies, repliesMs, metric, dropped, droppedReplies }).toEqual({
      level: count > 0 ? 'warn' : 'info',
      replies: sent,
      repliesMs: sent + count > 0 ? 40 : undefined,
      metric: sent + count > 0 ? expect.closeTo(0.04) : undefined,
      dropped: count > 0 ? Array(Math.min(count, 10)).fill(drop) : undefined,
      droppedReplies: count > 0 ? count : undefined,
    });
  },
);
