import { EventEmitter } from 'node:events';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { hubForEach } from '../../iot-hub-emulator/test/support/sharedHub.ts';
import { createServiceConnection } from '../../src/hub/replies/replies.ts';
import { cureHubSdks } from '../../src/hub/sdkCures.ts';
import { errors, SenderLink, translateError } from '../../src/hub/serviceSdk.ts';
import { plainService } from '../traps/support/plain.ts';
import { replyTo, senderOver, silence, untold } from './support/replying.ts';

// What the service client does to a program that trusts it, and that replies do not suffer from it. The client is the
// official one, the hub is the sandbox's; test/traps reproduces each trap without the cure.

cureHubSdks();

const soon = { timeout: 40_000, interval: 25 };
const rules = { devicebound: { pending: 1_000 } };
const hub = hubForEach({ devices: [{ deviceId: 'pump-1' }], rules });

describe('replying through the hub', () => {
  let connection: ReturnType<typeof createServiceConnection>;
  let clients: number;
  const newClient = () => {
    clients += 1;
    return plainService(hub);
  };
  const connectionThatWaits = (answerWithinMs: number) =>
    createServiceConnection({ newClient, answerWithinMs, log: silence, troubles: untold });
  beforeEach(() => {
    clients = 0;
    connection = connectionThatWaits(20_000);
  });
  afterEach(async () => {
    vi.useRealTimers();
    await connection.close();
  });

  const reply = (body: string) => replyTo('pump-1', body);
  const received = () =>
    hub.journal
      .list({ deviceId: 'pump-1', kind: 'c2d' })
      .map((entry) => ('body' in entry ? entry.body.toString() : ''));

  it.each(['attached', 'detached'] as const)(
    'continues at once when the hub has closed the connection during a reply, with its links %s (trap 2)',
    async (links) => {
      const condition = 'amqp:connection:forced';
      hub.faults.add({ kind: 'settle', answer: 'close', links, condition, link: 'c2d', skip: 1, times: 1 });
      expect(await connection.send(reply('first'))).toBeUndefined();
      expect(await connection.send(reply('open'))).toEqual({ kind: 'connection', reason: 'hub_unavailable' });
      expect(await connection.send(reply('next'))).toBeUndefined();
      expect(received()).toContain('next');
    },
  );

  it('keeps the order of a device while the hub throttles, and sends no reply twice (trap 6)', async () => {
    const sender = senderOver(connection.send, { maxInFlight: 10, random: Math.random });
    const condition = 'com.microsoft:device-container-throttled';
    hub.faults.add({ kind: 'settle', answer: 'reject', condition, link: 'c2d', skip: 1, times: 4 });
    for (const body of ['first', 'second', 'third']) expect(await sender.send(reply(body))).toBe('delivered');
    expect(received()).toEqual(['first', 'second', 'third']);
  });

  it('reports within its limit that a hub that accepts connections does not answer (trap 5)', async () => {
    hub.faults.add({ kind: 'refuse-connection', answer: 'silent', port: 'amqps' });
    connection = connectionThatWaits(1_000);
    expect(await connection.send(reply('x'))).toEqual({ kind: 'connection', reason: 'hub_unavailable' });
  });

  it('reconnects by itself: at a port that refused (trap 5), and after a drop with nothing to send', async () => {
    const closed = hub.faults.add({ kind: 'refuse-connection', answer: 'closed', port: 'amqps' });
    await connection.open();
    expect(connection.isOpen()).toBe(false);
    hub.faults.clear(closed);
    await vi.waitFor(() => expect(connection.isOpen()).toBe(true), soon);
    const before = clients;
    await hub.faults.strike({ kind: 'drop', connections: 'service' });
    await vi.waitFor(() => expect(clients).toBeGreaterThan(before), soon);
    await vi.waitFor(() => expect(connection.isOpen()).toBe(true), soon);
  });
});

it.each([new errors.NotConnectedError('lost'), new errors.ServiceUnavailableError('lost')])(
  'an error that is translated is not its own cause: %s (trap 1)',
  (error) => {
    const translated = translateError('sending failed', error);
    expect(translated).toBe(error);
    expect(Reflect.get(translated, 'amqpError')).toBeUndefined();
  },
);

it('a link that the hub has not answered is told of an error when it ends, and one that expects none is not', () => {
  const ends: unknown[] = [];
  const session = { open_sender: () => Object.assign(new EventEmitter(), { remove: () => undefined }) };
  const ended = (prepare: (link: SenderLink) => void) => {
    const link = new SenderLink('a', {}, session as never);
    prepare(link);
    link.attach((error) => ends.push(error));
    link.forceDetach();
  };
  ended((link) => link.on('error', () => undefined));
  ended(() => undefined);
  expect(ends).toEqual([new errors.NotConnectedError('the connection was lost'), undefined]);
});
