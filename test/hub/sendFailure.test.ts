import { describe, expect, it, vi } from 'vitest';
import { type SendRefusal, sendRefusalOf } from '../../src/hub/replies/sendFailure.ts';
import { errors } from '../../src/hub/serviceSdk.ts';
import type { Delivery, DropReason } from '../../src/protocol/vocabulary.ts';
import { withFakeTimers } from '../support/waiting.ts';
import { replyTo, senderOver } from './support/replying.ts';

/** An error of the client, for an AMQP error of the hub. */
const withCondition = (condition: string, description?: string, error = new Error('of the client')) =>
  Object.assign(error, { amqpError: { condition, description } });

const full = () => new errors.DeviceMaximumQueueDepthExceededError('full');
const overLimit = (description: string) => withCondition('amqp:resource-limit-exceeded', description, full());

it.each<[what: string, error: Error, kind: SendRefusal['kind'], reason: SendRefusal['reason']]>([
  ['a full queue', full(), 'later', 'queue_full'],
  ['a full queue, with its code', overLimit('403004'), 'later', 'queue_full'],
  ['a quota, with its code', overLimit('403002'), 'hub', 'quota'],
  ['a quota, with its name', overLimit('IotHubQuotaExceeded'), 'hub', 'quota'],
  ['a quota, in words', overLimit('exceeded the Allocated Quota.'), 'hub', 'quota'],
  ['a code that only begins like that of a quota', overLimit('4030021'), 'later', 'queue_full'],
  ['a quota', new errors.IotHubQuotaExceededError('used up'), 'hub', 'quota'],
  ['the words of a quota with another condition', withCondition('amqp:not-allowed', '403002'), 'never', 'refused'],
  ['a suspended hub', new errors.IoTHubSuspendedError('suspended'), 'hub', 'suspended'],
  ['a busy hub', new errors.ThrottlingError('busy'), 'later', 'throttled'],
  ['a failed hub', new errors.InternalServerError('failed'), 'later', 'not_taken'],
  ['an unknown device', new errors.DeviceNotFoundError('unknown'), 'never', 'unknown_device'],
  ['a large message', new errors.MessageTooLargeError('large'), 'never', 'too_large'],
  ['no service', new errors.ServiceUnavailableError('down'), 'connection', 'hub_unavailable'],
  ['no connection', new errors.NotConnectedError('down'), 'connection', 'hub_unavailable'],
  ['no right', new errors.UnauthorizedError('no'), 'connection', 'hub_unavailable'],
  [
    'a condition that passes, whatever the error',
    withCondition('amqp:resource-locked', '', full()),
    'later',
    'throttled',
  ],
  ['a condition that only has that of a link in it', withCondition('x-amqp:link:stolen'), 'never', 'refused'],
  ['an error without a condition', new Error('ECONNRESET'), 'connection', 'hub_unavailable'],
  ['a device without a name', new ReferenceError('deviceId is required'), 'never', 'refused'],
  ['a device whose name is no text', new URIError('URI malformed'), 'never', 'refused'],
])('%s: %s', (_, error, kind, reason) => expect(sendRefusalOf(error)).toEqual({ kind, reason }));

describe('what becomes of a reply (C4) when the hub says', () => {
  withFakeTimers();

  interface Fate {
    readonly atOnce?: DropReason;
    readonly afterMinute?: DropReason;
    /** Meanwhile a reply to another device, which the hub would take, waits as well. */
    readonly isOtherHeld?: true;
  }

  it.each<[what: string, error: Error, fate: Fate]>([
    ['that it does not know the device', new errors.DeviceNotFoundError('unknown'), { atOnce: 'unknown_device' }],
    ['that the queue of the device is full', full(), { afterMinute: 'queue_full' }],
    ['that it is busy', withCondition('com.microsoft:server-busy'), { afterMinute: 'throttled' }],
    ['that its quota is used up', overLimit('403002'), { isOtherHeld: true }],
    ['nothing, for it is away', new errors.ServiceUnavailableError('down'), {}],
    ['that we have no right', new errors.UnauthorizedError('no'), {}],
  ])('%s', async (_, error, { atOnce, afterMinute, isOtherHeld }) => {
    let isBack = false;
    const sender = senderOver(async ({ deviceId }) => (deviceId === 'a' && !isBack ? sendRefusalOf(error) : undefined));
    const became: Record<string, Delivery> = {};
    const send = (device: string) => void sender.send(replyTo(device)).then((delivery) => (became[device] = delivery));
    send('a');
    await vi.advanceTimersByTimeAsync(0);
    expect(became['a']).toEqual(atOnce && { dropped: atOnce });
    send('b');
    await vi.advanceTimersByTimeAsync(30_000);
    expect(became['a']).toEqual(atOnce && { dropped: atOnce });
    expect(became['b']).toBe(isOtherHeld ? undefined : 'delivered');
    await vi.advanceTimersByTimeAsync(3_600_000);
    const dropped = atOnce ?? afterMinute;
    expect(became['a']).toEqual(dropped && { dropped });
    isBack = true;
    await vi.advanceTimersByTimeAsync(120_000);
    expect(became).toEqual({ a: dropped === undefined ? 'delivered' : { dropped }, b: 'delivered' });
  });
});
