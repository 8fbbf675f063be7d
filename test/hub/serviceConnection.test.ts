import { setImmediate as turn } from 'node:timers/promises';
import type { Client } from 'azure-iothub';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { createServiceConnection } from '../../src/hub/replies/replies.ts';
import { cureHubSdks } from '../../src/hub/sdkCures.ts';
import { type Disposition, type ServiceEndpoint, startServiceEndpoint } from '../support/serviceEndpoint.ts';
import { replyTo, silence, untold } from './support/replying.ts';

cureHubSdks();

const connectionWith = (newClient: () => Client, answerWithinMs: number) =>
  createServiceConnection({ newClient, answerWithinMs, log: silence, troubles: untold });
const parts = {
  messageId: '6f9619ff-8b86-5011-b42d-00cf4fc964ff',
  correlationId: 'c-1',
  properties: { msgType: 'ack' },
};
const reply = (body: string) => replyTo('d1', body, parts);

let endpoint: ServiceEndpoint;
let connection: ReturnType<typeof createServiceConnection>;
async function setUp(next: (body: string) => Disposition, answerWithinMs = 5_000, credit?: number) {
  endpoint = await startServiceEndpoint(next, credit);
  connection = connectionWith(endpoint.newClient, answerWithinMs);
}
afterEach(async () => {
  await connection.close();
  await endpoint.close();
});

/** Accepts everything but what is told to go wrong. */
const unless = (disposition: Disposition) => (body: string) => (body === 'lost' ? disposition : 'accept');

describe('the connection to the service endpoint, with the official client', () => {
  it('sends a reply', async () => {
    await setUp(() => 'accept');
    expect([await connection.send(reply('hello')), endpoint.received]).toEqual([undefined, ['hello']]);
    expect(connection.isOpen()).toBe(true);
  });

  it('sends the system properties and the application properties of a reply, and no others (C1, C2)', async () => {
    await setUp(() => 'accept');
    for (const _ of ['first', 'later']) await connection.send(reply('{}'));
    await connection.send({ ...reply('{}'), correlationId: undefined });
    const [first, later, last] = endpoint.messages;
    expect(first).toMatchObject({
      to: '/devices/d1/messages/devicebound',
      message_id: Buffer.from('6f9619ff8b865011b42d00cf4fc964ff', 'hex'),
      ...{ correlation_id: 'c-1', content_type: 'application/json', content_encoding: 'utf-8' },
    });
    expect([first?.application_properties, later]).toEqual([{ msgType: 'ack' }, first]);
    expect(last?.correlation_id).toBeUndefined();
  });

  it('attaches one link however many replies come at first', async () => {
    await setUp(() => 'accept');
    const sent = await Promise.all(Array.from({ length: 20 }, (_, index) => connection.send(reply(String(index)))));
    expect(sent.filter((refusal) => refusal !== undefined)).toEqual([]);
    expect([endpoint.connections(), endpoint.links()]).toEqual([1, 1]);
  });

  it('writes the replies of one turn of the event loop at once, in order (D148)', async () => {
    await setUp(() => 'accept');
    await connection.send(reply('first'));
    const before = endpoint.receivedMessages();
    const bodies = Array.from({ length: 20 }, (_, index) => String(index));
    const sent: Promise<unknown>[] = [];
    for (const body of bodies) {
      sent.push(connection.send(reply(body)));
      await new Promise<void>((resolve) => process.nextTick(resolve));
    }
    expect(new Set(await Promise.all(sent))).toEqual(new Set([undefined]));
    expect(endpoint.received).toEqual(['first', ...bodies]);
    expect(endpoint.receivedMessages() - before).toBe(1);
  });

  it('sends replies in order when the hub gives credit for one at a time', async () => {
    await setUp(() => 'accept', 5_000, 1);
    const sent: Promise<unknown>[] = [];
    const bodies = Array.from({ length: 50 }, (_, index) => String(index));
    for (const body of bodies) {
      sent.push(connection.send(reply(body)));
      if (sent.length % 3 === 1) await turn();
    }
    expect(new Set(await Promise.all(sent))).toEqual(new Set([undefined]));
    expect(endpoint.received).toEqual(bodies);
  });

  it.each(['release', 'modify'] as const)('does not count %s as success', async (disposition) => {
    await setUp(() => disposition);
    const refusal = { kind: 'later', reason: 'not_taken' };
    for (const _ of ['first', 'later']) expect(await connection.send(reply('x'))).toEqual(refusal);
  });

  it.each<[condition: string, refusal: object, description?: string]>([
    ['amqp:resource-limit-exceeded', { kind: 'later', reason: 'queue_full' }],
    ['amqp:resource-limit-exceeded', { kind: 'hub', reason: 'quota' }, '{"errorCode":403002,"message":"…"}'],
    ['com.microsoft:device-container-throttled', { kind: 'later', reason: 'throttled' }],
    ['com.microsoft:quota-exceeded', { kind: 'hub', reason: 'quota' }],
    ['com.microsoft:iot-hub-suspended', { kind: 'hub', reason: 'suspended' }],
    ['com.microsoft:server-busy', { kind: 'later', reason: 'throttled' }],
    ['com.microsoft:timeout', { kind: 'later', reason: 'throttled' }],
    ['com.microsoft:operation-cancelled', { kind: 'later', reason: 'throttled' }],
    ['amqp:resource-locked', { kind: 'later', reason: 'throttled' }],
    ['amqp:internal-error', { kind: 'later', reason: 'not_taken' }],
    ['amqp:not-found', { kind: 'never', reason: 'unknown_device' }],
    ['amqp:link:message-size-exceeded', { kind: 'never', reason: 'too_large' }],
    ['com.microsoft:argument-error', { kind: 'never', reason: 'refused' }],
    ['com.example:something-new', { kind: 'never', reason: 'refused' }],
    ['amqp:unauthorized-access', { kind: 'connection', reason: 'hub_unavailable' }],
    ['amqp:connection:forced', { kind: 'connection', reason: 'hub_unavailable' }],
    ['amqp:link:stolen', { kind: 'connection', reason: 'hub_unavailable' }],
    ['amqp:session:window-violation', { kind: 'connection', reason: 'hub_unavailable' }],
  ])('recognises a rejection with %s, of the first reply and of a later one', async (reject, refusal, description) => {
    const rejection = { reject, ...(description !== undefined && { description }) };
    await setUp(() => rejection);
    expect(await connection.send(reply('x'))).toEqual(refusal);
    await connection.close();
    await endpoint.close();
    await setUp((body) => (body === 'first' ? 'accept' : rejection));
    await connection.send(reply('first'));
    expect(await connection.send(reply('x'))).toEqual(refusal);
  });

  it.each([
    ['a device without a name', { deviceId: '' }],
    ['a device whose name is no text', { deviceId: '\ud800' }],
  ])('fails a reply at once that the client itself refuses, to %s, and keeps the link', async (_what, more) => {
    await setUp(() => 'accept');
    await connection.send(reply('x'));
    expect(await connection.send({ ...reply('x'), ...more })).toEqual({ kind: 'never', reason: 'refused' });
    expect([await connection.send(reply('x')), endpoint.connections()]).toEqual([undefined, 1]);
  });

  describe('in the time that the hub may take', () => {
    /** A reply may be open for eight looks of a timer, and the first one may come at once. */
    const answerWithinMs = 400;
    const inTime = Array.from({ length: 9 }, (_, index) => index);
    const look = () => vi.advanceTimersByTime(answerWithinMs / 8);
    beforeEach(() => void vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] }));

    it('replaces a connection on which no reply is settled any more, and does not wait for its open replies', async () => {
      let isSilent = false;
      await setUp(() => (isSilent ? 'silence' : 'accept'), answerWithinMs);
      expect(await connection.send(reply('x'))).toBeUndefined();
      isSilent = true;
      const [one, two] = [connection.send(reply('one')), connection.send(reply('two'))];
      await expect.poll(() => endpoint.received.length).toBe(3);
      for (const _ of [...inTime, 'late']) look();
      const expected = ['unanswered', 'unanswered', 1];
      expect([(await one)?.reason, (await two)?.reason, endpoint.connections()]).toEqual(expected);
      const again = connection.send(reply('again'));
      await expect.poll(() => endpoint.received.length).toBe(4);
      for (const _ of inTime) look();
      expect((await again)?.reason).toBe('unanswered');
      isSilent = false;
      expect([await connection.send(reply('next')), endpoint.connections()]).toEqual([undefined, 2]);
    });
  });

  it('replaces a connection before a lost answer blocks it (trap 3)', async () => {
    await setUp(unless('silence'), 60_000);
    await connection.send(reply('first'));
    void connection.send(reply('lost'));
    for (let sent = 0; sent < 2_200; sent += 100) {
      const outcomes = await Promise.all(Array.from({ length: 100 }, () => connection.send(reply('x'))));
      expect(new Set(outcomes)).toEqual(new Set([undefined]));
    }
    expect([endpoint.connections(), endpoint.links()]).toEqual([2, 2]);
  });

  it.each(['drop', 'detach'] as const)('goes on over a new connection after a %s with an open reply', async (fault) => {
    await setUp(unless(fault), 1_000);
    expect(await connection.send(reply('first'))).toBeUndefined();
    expect(await connection.send(reply('lost'))).toBeDefined();
    expect(await connection.send(reply('next'))).toBeUndefined();
  });
});
