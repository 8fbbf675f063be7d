import { once } from 'node:events';
import { createServer } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import {
  createServiceConnection,
  newServiceClient,
  type ServiceConnection,
} from '../../src/hub/replies/serviceConnection.ts';
import { cureHubSdks } from '../../src/hub/sdkCures.ts';
import { createLog } from '../../src/log.ts';
import type { Reply } from '../../src/protocol/c2d.ts';
import { type Disposition, type ServiceEndpoint, startServiceEndpoint } from '../support/serviceEndpoint.ts';

cureHubSdks();

const log = createLog('silent');
const reply = (body: string): Reply => ({
  kind: 'acknowledgement',
  deviceId: 'd1',
  messageId: '6f9619ff-8b86-5011-b42d-00cf4fc964ff',
  correlationId: 'c-1',
  properties: { msgType: 'ack' },
  body,
});

let endpoint: ServiceEndpoint;
let connection: ServiceConnection;
async function setUp(next: (body: string) => Disposition, answerWithinMs = 5_000) {
  endpoint = await startServiceEndpoint(next);
  connection = createServiceConnection(endpoint.newClient, answerWithinMs, log);
}
afterEach(async () => {
  await connection.close();
  await endpoint.close();
});

/** Accepts everything but a first message. */
const first = (disposition: Disposition) => {
  let seen = false;
  return (): Disposition => {
    if (seen) return 'accept';
    seen = true;
    return disposition;
  };
};

describe('the connection to the service endpoint, with the official client', () => {
  it('hands over a reply', async () => {
    await setUp(() => 'accept');
    expect(await connection.send(reply('hello'))).toBeUndefined();
    expect(endpoint.received).toEqual(['hello']);
    expect(connection.isOpen()).toBe(true);
  });

  it('attaches one link however many replies come first', async () => {
    await setUp(() => 'accept');
    const sent = await Promise.all(Array.from({ length: 20 }, (_, index) => connection.send(reply(String(index)))));
    expect(sent.filter((refusal) => refusal !== undefined)).toEqual([]);
    expect([endpoint.connections(), endpoint.links()]).toEqual([1, 1]);
  });

  it.each(['release', 'modify'] as const)('does not take %s for success', async (disposition) => {
    await setUp(() => disposition, 300);
    expect(await connection.send(reply('x'))).toMatchObject({ kind: 'later' });
  });

  it.each([
    ['amqp:resource-limit-exceeded', { kind: 'later', reason: 'queue_full' }],
    ['com.microsoft:device-container-throttled', { kind: 'later', reason: 'throttled' }],
    ['com.microsoft:quota-exceeded', { kind: 'later', reason: 'throttled' }],
    ['com.microsoft:iot-hub-suspended', { kind: 'later', reason: 'throttled' }],
    ['com.microsoft:server-busy', { kind: 'later', reason: 'throttled' }],
    ['com.microsoft:timeout', { kind: 'later', reason: 'throttled' }],
    ['amqp:internal-error', { kind: 'later', reason: 'not_taken' }],
    ['amqp:not-found', { kind: 'never', reason: 'unknown_device' }],
    ['amqp:link:message-size-exceeded', { kind: 'never', reason: 'too_large' }],
    ['com.microsoft:argument-error', { kind: 'never', reason: 'refused' }],
    ['com.example:something-new', { kind: 'never', reason: 'refused' }],
    ['amqp:unauthorized-access', { kind: 'connection', reason: 'hub_unavailable' }],
    ['amqp:connection:forced', { kind: 'connection', reason: 'hub_unavailable' }],
    ['amqp:link:stolen', { kind: 'connection', reason: 'hub_unavailable' }],
    ['amqp:session:window-violation', { kind: 'connection', reason: 'hub_unavailable' }],
  ])('understands a rejection with %s', async (condition, refusal) => {
    await setUp(() => ({ reject: condition }));
    expect(await connection.send(reply('x'))).toEqual(refusal);
  });

  it.each([
    ['a device without a name', { deviceId: '' }],
    ['a device whose name is no text', { deviceId: '\ud800' }],
  ])('gives up at once on a reply that the client itself refuses, to %s, and keeps the line', async (_what, more) => {
    await setUp(() => 'accept');
    await connection.send(reply('x'));
    expect(await connection.send({ ...reply('x'), ...more })).toEqual({ kind: 'never', reason: 'refused' });
    expect(await connection.send(reply('x'))).toBeUndefined();
    expect(endpoint.connections()).toBe(1);
  });

  it('gives up on a reply that is never settled, and goes on over a new connection', async () => {
    await setUp(first('silence'), 300);
    expect(await connection.send(reply('lost'))).toEqual({ kind: 'later', reason: 'unanswered' });
    expect(await connection.send(reply('next'))).toBeUndefined();
    expect(endpoint.connections()).toBe(2);
  });

  // With the client as shipped both end the process: RangeError in an event handler.
  it.each(['drop', 'detach'] as const)(
    'survives a %s while a reply is open, and goes on over a new connection',
    async (fault) => {
      const thrown: Error[] = [];
      const keep = (error: Error) => thrown.push(error);
      process.on('uncaughtException', keep);
      await setUp(first(fault), 1_000);
      expect(await connection.send(reply('lost'))).toBeDefined();
      expect(await connection.send(reply('next'))).toBeUndefined();
      process.off('uncaughtException', keep);
      expect(thrown).toEqual([]);
    },
  );

  it('says within its limit that nobody listens, where the client would try silently for minutes', async () => {
    await setUp(() => 'accept');
    const server = createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as { port: number };
    await new Promise((resolve) => server.close(resolve));
    const nobody = createServiceConnection(
      () => newServiceClient(`HostName=localhost:${port};SharedAccessKeyName=n;SharedAccessKey=a2V5`),
      300,
      log,
    );
    expect(await nobody.send(reply('x'))).toEqual({ kind: 'connection', reason: 'hub_unavailable' });
    expect(nobody.isOpen()).toBe(false);
    await nobody.close();
  });
});
