import { expect, it, vi } from 'vitest';
import type { CardLimits } from '../../src/card/card.ts';
import { type Delivery, dropReasons } from '../../src/protocol/vocabulary.ts';
import { dispatchEvent } from '../support/dispatching.ts';
import { hubEvent } from '../support/events.ts';
import { failsToTheEnd, type Script } from '../support/scriptedBackend.ts';
import { device, noConfiguration, problem, pump, pumpId } from '../support/world.ts';
import { properties, pumpBody, success } from './support/creation.ts';

// Each way in which a message can fail: the code that the device gets, and whether the message is kept for an operator
// (result codes, G4). Only what fails through our side is kept: a repeat can help there, and the device can do nothing.

/** A request for a model and its configuration, which answers with notifications. */
const sync = {
  'svc-messagetype': 'platformEvent',
  ...{ eventType: 'Svc.Device.SyncModel', id: 'c-1', objectId: pumpId, model: 'svc.device', ack: 'all' },
};
const found = { call: `GET /objects/${pumpId}/models/svc.device`, reply: [200, pump()] } as const;

interface Cause {
  readonly properties?: Readonly<Record<string, unknown>>;
  readonly body?: unknown;
  readonly device?: string;
  readonly script?: Script;
  readonly limits?: Partial<CardLimits>;
  readonly delivery?: Delivery;
}

const undone = (): never => {
  throw new Error('nobody foresaw this');
};

const causes: readonly (readonly [code: string, what: string, Cause])[] = [
  ['validation_error', 'a body that is no JSON', { body: '{' }],
  ['validation_error', 'a property that is wrong', { properties: { ...properties, timeout: 'soon' } }],
  ['validation_error', 'a device whose name no header can carry', { device: 'ü'.repeat(100) }],
  ['platform_event_validation_error', 'an event that is no JSON', { properties: sync, body: '{' }],
  ['platform_event_validation_error', 'an event of such a device', { properties: sync, device: 'ü'.repeat(100) }],
  ['platform_event_validation_error', 'too large properties', { properties: { ...properties, x: 'x'.repeat(33_000) } }],
  ['not_authorized', 'what the device may not do', { script: [{ ...device, reply: problem(403, 'No') }] }],
  ['http_response_error', 'what a backend refuses', { script: [{ ...device, reply: problem(400, 'No') }] }],
  ['http_response_error', 'an owner that nobody knows', { script: [{ ...device, reply: [200, { data: [] }] }] }],
  ['operation_not_supported', 'an action that is none of ours', { properties: { ...properties, action: 'x.y' } }],
  ['decompression_error', 'a broken compression', { properties: { ...properties, 'content-encoding': 'gzip' } }],
  ['decompression_error', 'an unknown compression', { properties: { ...properties, 'content-encoding': 'br' } }],
  [
    'response_too_large',
    'more than may be fetched',
    {
      ...{ properties: sync, body: { related: ['svc.configuration'] }, limits: { maxSyncModels: 1 } },
      script: [found],
    },
  ],
  ...dropReasons.map(
    (dropped) =>
      [
        dropped === 'too_large' ? 'response_too_large' : 'delivery_failed',
        `a notification that is dropped: ${dropped}`,
        { properties: sync, script: [found], delivery: { dropped } },
      ] as const,
  ),
  [
    'timeout_exceeded',
    'a backend without an answer',
    { properties: { ...properties, timeout: 1 }, script: [{ ...device, reply: 'hang' }] },
  ],
  ['internal_platform_error', 'a backend that fails', { script: failsToTheEnd({ call: device.call }) }],
  ['internal_platform_error', 'a backend that redirects', { script: [{ ...device, reply: [302, '<html>'] }] }],
  ['internal_platform_error', 'a backend that answers garbage', { script: [{ ...device, reply: [200, '<html>'] }] }],
  ['internal_platform_error', 'a defect during a call', { script: [{ ...device, onCall: undone }] }],
];

const ours = ['timeout_exceeded', 'internal_platform_error'];

it.each(causes)('a message fails with %s for %s', async (code, _, cause) => {
  vi.useFakeTimers();
  const { script = [], limits, delivery, body, ...sent } = cause;
  const event = hubEvent({ properties, body: body ?? (sent.properties === sync ? {} : pumpBody), ...sent });
  const dispatching = dispatchEvent(event, script, {
    limits,
    deliver: ({ kind }) => (kind === 'notification' ? delivery : undefined),
  });
  await vi.advanceTimersByTimeAsync(3_000);
  const { handled, replies, parked, logged } = await dispatching;
  const isOurs = ours.includes(code);
  const answer = JSON.parse(replies.at(-1)?.body ?? '');
  expect([handled, answer.success, answer.code]).toEqual([true, false, code]);
  expect(answer.details.length).toBeGreaterThan(10);
  expect(parked.map((letter) => letter.code)).toEqual(isOurs ? [code] : []);
  const isWarned = code === 'internal_platform_error' || delivery !== undefined;
  expect(logged.at(-1)).toMatchObject({ msg: 'handled', code, level: isWarned ? 'warn' : 'info' });
});

it.each(dropReasons)('a notification that is dropped (%s) fails no request but SyncModel', async (dropped) => {
  const configuration = pump({ model: 'svc.configuration' });
  const script = [...success.slice(0, -1), { ...noConfiguration(pumpId), reply: [200, configuration] as const }];
  const { replies, parked, logged } = await dispatchEvent(hubEvent({ properties, body: pumpBody }), script, {
    deliver: ({ kind }) => (kind === 'notification' ? { dropped } : undefined),
  });
  expect(replies.map(({ kind }) => kind)).toEqual(['notification', 'acknowledgement']);
  expect(JSON.parse(replies[1]?.body ?? '')).toMatchObject({ success: true, code: 'ok' });
  expect(parked).toEqual([]);
  expect(logged.at(-1)).toMatchObject({ msg: 'handled', code: 'ok', level: 'warn', droppedReplies: 1 });
});
