import { once } from 'node:events';
import { connect } from 'node:net';
import { describe, expect, test } from 'vitest';
import { startHub } from '../../src/hub.ts';
import {
  append,
  bareConnection,
  disconnected,
  ended,
  eventReceiver,
  outcomeOf,
  putToken,
  serviceLink,
  toDevice,
} from '../support/bare.ts';
import { connectedDevice } from '../support/device.ts';
import { hubForFaults } from '../support/sharedHub.ts';

const hub = hubForFaults({ devices: [{ deviceId: 'pump-1' }, { deviceId: 'pump-2' }], partitions: 2 });

describe('dropping connections', () => {
  test.each(['fin', 'rst'] as const)('by %s affects clients of the given kind only', async (how) => {
    const { connection } = await eventReceiver(hub);
    const service = await serviceLink(hub);
    const device = await connectedDevice(hub, 'pump-1');
    expect(await hub.faults.strike({ kind: 'drop', how, connections: 'events' })).toBe(1);
    await disconnected(connection);
    expect(await outcomeOf(service, toDevice('pump-1'))).toBe('accepted');
    expect(await hub.faults.strike({ kind: 'drop', how, connections: 'device' })).toBe(1);
    await device.closed;
    expect(await hub.faults.strike({ kind: 'drop', how, connections: 'service' })).toBe(1);
    await disconnected(service.connection);
  });
  test('affects one device and leaves the others connected', async () => {
    const one = await connectedDevice(hub, 'pump-1');
    const other = await connectedDevice(hub, 'pump-2');
    expect(await hub.faults.strike({ kind: 'drop', deviceId: 'pump-1' })).toBe(1);
    await one.closed;
    other.send({ cmd: 'pingreq' });
    await other.next('pingresp');
  });
  test('sends a RST over TLS as well, without a TLS close', async () => {
    const device = await connectedDevice(hub, 'pump-1');
    const failed = once(device.socket, 'error');
    await hub.faults.strike({ kind: 'drop', how: 'rst' });
    expect(await failed).toMatchObject([{ code: 'ECONNRESET' }]);
  });
});

test('a closed connection gets the reason, if the fault has one', async () => {
  const { connection } = await eventReceiver(hub);
  const closed = once(connection, 'connection_close');
  await hub.faults.strike({ kind: 'close', condition: 'amqp:connection:forced' });
  await closed;
  expect(connection.error).toMatchObject({ condition: 'amqp:connection:forced' });
});

describe('closing a connection', () => {
  /** What the client is told, in this order. */
  async function endsOf(links?: 'attached') {
    const { connection, receiver } = await eventReceiver(hub);
    const told: string[] = [];
    receiver.on('receiver_close', () => told.push('link'));
    receiver.session.on('session_close', () => told.push('session'));
    const closed = once(connection, 'connection_close').then(() => told.push('connection'));
    await hub.faults.strike({ kind: 'close', links, condition: 'amqp:connection:forced' });
    await closed;
    return { told, error: receiver.error };
  }

  test('ends its links and sessions first, for the same reason, like IoT Hub', async () => {
    const { told, error } = await endsOf();
    expect(told).toEqual(['link', 'session', 'connection']);
    expect(error).toMatchObject({ condition: 'amqp:connection:forced' });
  });
  test('leaves links and sessions attached on request', async () =>
    expect((await endsOf('attached')).told).toEqual(['connection']));
});

describe('detaching', () => {
  test('affects the links of one partition only', async () => {
    const first = await eventReceiver(hub, { partition: 0 });
    const second = await eventReceiver(hub, { partition: 1 });
    const gone = ended(first.receiver);
    expect(await hub.faults.strike({ kind: 'detach', partition: '0', condition: 'amqp:link:detach-forced' })).toBe(1);
    expect(await gone).toBe('amqp:link:detach-forced');
    append(hub, ['still here'], 1);
    await expect.poll(() => second.bodies).toContain('still here');
  });
  test('selects links by their address and gives a condition only on request', async () => {
    const service = await serviceLink(hub);
    const gone = ended(service);
    expect(await hub.faults.strike({ kind: 'detach', address: 'devicebound' })).toBe(1);
    expect(await gone).toBeUndefined();
  });
  test('ignores messages that still come on the link', async () => {
    const service = await serviceLink(hub);
    const gone = ended(service);
    await hub.faults.strike({ kind: 'detach', address: 'devicebound' });
    service.send(toDevice('pump-1', 'too late'));
    await gone;
    await putToken(hub, service.connection, 'service'); // a request that comes after the message
    expect(hub.journal.list({ kind: 'c2d' }).filter(({ body }) => String(body) === 'too late')).toEqual([]);
  });
  test('lets the next receiver attach at once', async () => {
    const first = await eventReceiver(hub);
    const gone = ended(first.receiver);
    await hub.faults.strike({ kind: 'detach', partition: '0' });
    await gone;
    append(hub, ['for the next one']);
    const second = await eventReceiver(hub);
    await expect.poll(() => second.bodies).toContain('for the next one');
    expect(hub.counters().receivers).toHaveLength(1);
  });
});

test('receivers lose a stolen partition', async () => {
  const { receiver } = await eventReceiver(hub);
  const gone = ended(receiver);
  expect(await hub.faults.strike({ kind: 'steal', partition: '0' })).toBe(1);
  expect(await gone).toBe('amqp:link:stolen');
});

test('a partition refuses receivers while it moves', async () => {
  const { receiver, connection } = await eventReceiver(hub);
  const gone = ended(receiver);
  await hub.faults.strike({ kind: 'move', partition: '0', ms: 60_000 });
  expect(await gone).toBe('amqp:link:detach-forced');
  const again = () => ended(connection.open_receiver(`${hub.name}/ConsumerGroups/$Default/Partitions/0`));
  expect(await again()).toBe('com.microsoft:server-busy');
  hub.faults.clear();
  await once(connection.open_receiver(`${hub.name}/ConsumerGroups/$Default/Partitions/0`), 'receiver_open');
});

test('a restart breaks every connection and opens the same ports again', async () => {
  const ports = { ...hub.ports };
  const { connection } = await eventReceiver(hub);
  const device = await connectedDevice(hub, 'pump-1');
  const down = hub.faults.strike({ kind: 'restart', downMs: 50 });
  await Promise.all([disconnected(connection), device.closed]);
  await expect(connectedDevice(hub, 'pump-1')).rejects.toMatchObject({ code: 'ECONNREFUSED' });
  expect(await down).toBe(2);
  expect(hub.ports).toEqual(ports);
  await connectedDevice(hub, 'pump-1');
  await bareConnection(hub);
});

test('a hub that is closed while it restarts stays closed', async () => {
  const other = await startHub();
  const down = other.faults.strike({ kind: 'restart', downMs: 20 });
  await other.close();
  await down;
  const socket = connect(other.ports.amqp, '127.0.0.1');
  expect(await once(socket, 'error')).toMatchObject([{ code: 'ECONNREFUSED' }]);
});

test('receivers that are rewound get events again', async () => {
  const { bodies } = await eventReceiver(hub, { partition: 1 });
  append(hub, ['a', 'b', 'c'], 1);
  await expect.poll(() => bodies.at(-1)).toBe('c');
  const before = bodies.length;
  expect(await hub.faults.strike({ kind: 'redeliver', events: 2, partition: '1' })).toBe(2);
  await expect.poll(() => bodies.slice(before)).toEqual(['b', 'c']);
});

test('a burst appends all its events at once, as if the device had sent them', async () => {
  const before = hub.counters().appended;
  const burst = { kind: 'burst', events: 1500, bytes: 100, deviceId: 'pump-2', properties: { a: '1' } } as const;
  expect(await hub.faults.strike(burst)).toBe(1500);
  expect(hub.counters().appended - before).toBe(1500);
  const [last] = hub.journal.list({ deviceId: 'pump-2', kind: 'd2c' }).slice(-1);
  expect(last).toMatchObject({ properties: { a: '1' }, body: Buffer.alloc(100, 'x') });
  await expect(hub.faults.strike({ ...burst, deviceId: 'nobody' })).rejects.toThrow('no device');
});

describe('expiring tokens', () => {
  test('ends the links that depend on them', async () => {
    const { receiver } = await eventReceiver(hub);
    const gone = ended(receiver);
    await hub.faults.strike({ kind: 'expire-tokens', connections: 'events' });
    expect(await gone).toBe('amqp:unauthorized-access');
  });
  test('ends the connections of devices', async () => {
    const device = await connectedDevice(hub, 'pump-1');
    await hub.faults.strike({ kind: 'expire-tokens', connections: 'device' });
    await device.closed;
    const [last] = hub.journal.list({ deviceId: 'pump-1', kind: 'disconnected' }).slice(-1);
    expect(last).toMatchObject({ reason: 'the token expired' });
  });
  test('allows a client to continue that renews its token', async () => {
    const connection = await bareConnection(hub);
    await putToken(hub, connection, 'service');
    await hub.faults.strike({ kind: 'expire-tokens' });
    expect(await ended(connection.open_sender('/messages/devicebound'))).toBe('amqp:unauthorized-access');
    await putToken(hub, connection, 'service');
    const sender = connection.open_sender({ target: '/messages/devicebound', name: 'again' });
    expect(await outcomeOf(sender, toDevice('pump-1'))).toBe('accepted');
  });
});
