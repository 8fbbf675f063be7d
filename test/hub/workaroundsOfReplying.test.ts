import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { hubForEach } from '../../iot-hub-emulator/test/support/sharedHub.ts';
import { createServiceConnection, type ServiceConnection } from '../../src/hub/replies/serviceConnection.ts';
import { cureHubSdks } from '../../src/hub/sdkCures.ts';
import { plainService, send } from '../traps/support/plain.ts';
import { replyTo, senderOver, silence, untold } from './support/replying.ts';

// What the service client does to a program that trusts it, and that replies do not suffer from it. The client is the
// official one, the hub is the sandbox's; test/traps reproduces each trap without the cure.

cureHubSdks();

const soon = { timeout: 40_000, interval: 25 };
const rules = { devicebound: { pending: 1_000 } };
const hub = hubForEach({ devices: [{ deviceId: 'pump-1' }], rules });

describe('replying through the hub', () => {
  let connection: ServiceConnection;
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

  it('replaces a connection before its token expires, since that may not be renewed (trap 7)', async () => {
    vi.useFakeTimers({ toFake: ['performance'] });
    await connection.send(reply('first'));
    vi.advanceTimersByTime(39 * 60_000);
    expect(await connection.send(reply('same'))).toBeUndefined();
    expect(clients).toBe(1);
    vi.advanceTimersByTime(2 * 60_000);
    expect(await connection.send(reply('other'))).toBeUndefined();
    expect(clients).toBe(2);
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

  it('closes a client to whose link the hub has not answered when its connection is lost', async () => {
    const client = plainService(hub);
    client.setRetryPolicy({ shouldRetry: () => false, nextRetryTimeout: () => -1 });
    await client.open();
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    const refused = expect(send(client, 'pump-1', 'x')).rejects.toThrow('the connection was lost');
    const closed = client.close();
    await hub.faults.strike({ kind: 'drop', connections: 'service' });
    await vi.advanceTimersByTimeAsync(45_000); // when the client tries again to detach its links
    await refused;
    await closed;
  });
});
