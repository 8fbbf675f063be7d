import { once } from 'node:events';
import { connect } from 'node:net';
import { describe, expect, test } from 'vitest';
import {
  append,
  bareConnection,
  ended,
  eventReceiver,
  outcomeOf,
  putToken,
  serviceLink,
  toDevice,
} from '../support/bare.ts';
import { connectedDevice, connectPacket, rawDevice } from '../support/device.ts';
import { hubForFaults } from '../support/sharedHub.ts';

const hub = hubForFaults({ devices: [{ deviceId: 'pump-1' }], partitions: 2 });

const listening = async (port: number): Promise<string> => {
  const socket = connect(port, '127.0.0.1');
  const outcome = await once(socket, 'connect').then(
    () => 'open',
    (error: NodeJS.ErrnoException) => error.code ?? '',
  );
  socket.destroy();
  return outcome;
};

describe('refusing connections', () => {
  test('a closed port refuses until the fault is cleared', async () => {
    const id = hub.faults.add({ kind: 'refuse-connection', answer: 'closed', port: 'amqp' });
    expect(await listening(hub.ports.amqp)).toBe('ECONNREFUSED');
    expect(await listening(hub.ports.mqtts)).toBe('open');
    hub.faults.clear(id);
    await expect.poll(() => listening(hub.ports.amqp)).toBe('open');
  });
  test('all ports except the admin port can be closed', async () => {
    hub.faults.add({ kind: 'refuse-connection', answer: 'closed' });
    const { admin, ...ports } = hub.ports;
    for (const port of Object.values(ports)) expect(await listening(port)).toBe('ECONNREFUSED');
    expect(await listening(admin)).toBe('open');
    hub.faults.clear();
    for (const port of Object.values(ports)) await expect.poll(() => listening(port)).toBe('open');
  });
  test('a connection is reset before any data, as often as the fault says', async () => {
    hub.faults.add({ kind: 'refuse-connection', answer: 'reset', port: 'mqtts', times: 1 });
    await expect(rawDevice(hub)).rejects.toMatchObject({ code: 'ECONNRESET' });
    await connectedDevice(hub, 'pump-1');
  });
  test('a silent port accepts connections and sends nothing', async () => {
    hub.faults.add({ kind: 'refuse-connection', answer: 'silent', port: 'amqp', times: 1 });
    const socket = connect(hub.ports.amqp, '127.0.0.1');
    await once(socket, 'connect');
    socket.write('AMQP\0\x01\0\0');
    await bareConnection(hub);
    expect(socket.bytesRead).toBe(0);
    socket.destroy();
  });
});

test('a link is refused with the requested condition', async () => {
  hub.faults.add({ kind: 'refuse-link', address: 'devicebound', condition: 'com.microsoft:server-busy', times: 1 });
  const connection = await bareConnection(hub);
  await putToken(hub, connection, 'service');
  expect(await ended(connection.open_sender('/messages/devicebound'))).toBe('com.microsoft:server-busy');
  await once(connection.open_sender({ target: '/messages/devicebound', name: 'second' }), 'sendable');
});

describe('tokens', () => {
  test('are refused only on the connections that the fault names', async () => {
    hub.faults.add({ kind: 'refuse-token', answer: 'refuse', connections: 'service' });
    expect(await putToken(hub, await bareConnection(hub), 'service')).toBe(401);
    expect(await putToken(hub, await bareConnection(hub), 'events')).toBe(202);
  });
  test('are refused to devices', async () => {
    hub.faults.add({ kind: 'refuse-token', answer: 'refuse', deviceId: 'pump-1', times: 1 });
    await expect(connectedDevice(hub, 'pump-1')).rejects.toThrow('answered 5');
    await connectedDevice(hub, 'pump-1');
  });
  test('get no answer', async () => {
    hub.faults.add({ kind: 'refuse-token', answer: 'silent' });
    const device = await rawDevice(hub);
    device.send(connectPacket(hub, 'pump-1'));
    void putToken(hub, await bareConnection(hub), 'events');
    await expect.poll(() => hub.faults.list()[0]?.struck).toBe(2);
    expect(hub.isConnected('pump-1')).toBe(false);
  });
  test('expire after the time that the fault allows', async () => {
    hub.faults.add({ kind: 'token-life', ms: 500, connections: 'events', times: 1 });
    const { receiver } = await eventReceiver(hub);
    expect(await ended(receiver)).toBe('amqp:unauthorized-access');
    hub.faults.add({ kind: 'token-life', ms: 20, connections: 'device' });
    await (await connectedDevice(hub, 'pump-1')).closed;
  });
});

describe('credit', () => {
  test('is not granted to a service that attaches', async () => {
    hub.faults.add({ kind: 'no-credit', link: 'c2d' });
    const connection = await bareConnection(hub);
    expect(await putToken(hub, connection, 'service')).toBe(200);
    const sender = connection.open_sender('/messages/devicebound');
    await once(sender, 'sender_open');
    await putToken(hub, connection, 'service'); // credit would have come before this answer
    expect(sender.sendable()).toBe(false);
    const sendable = once(sender, 'sendable');
    hub.faults.clear();
    await sendable;
  });
  test('is withdrawn from a service that has it', async () => {
    const sender = await serviceLink(hub);
    const flow = once(sender, 'sender_flow');
    hub.faults.add({ kind: 'no-credit' });
    await flow;
    expect(sender.sendable()).toBe(false);
    const sendable = once(sender, 'sendable');
    hub.faults.clear();
    await sendable;
    expect(await outcomeOf(sender, toDevice('pump-1'))).toBe('accepted');
  });
});

describe('events', () => {
  test('are withheld from the receivers of a partition until the fault is cleared', async () => {
    hub.faults.add({ kind: 'no-events', partition: '0' });
    const silent = await eventReceiver(hub, { partition: 0 });
    const other = await eventReceiver(hub, { partition: 1 });
    append(hub, ['a'], 0);
    append(hub, ['b'], 1);
    await expect.poll(() => other.bodies).toEqual(['b']);
    await putToken(hub, silent.connection, 'events');
    expect(silent.bodies).toEqual([]);
    hub.faults.clear();
    await expect.poll(() => silent.bodies).toEqual(['a']);
  });
  test('are sent settled, or unsettled if a fault says so, and are counted when they are settled', async () => {
    append(hub, ['one more'], 1);
    const first = await eventReceiver(hub, { partition: 1 });
    await expect.poll(() => first.bodies.length).toBeGreaterThan(0);
    const before = hub.counters();
    expect(before.settled).toBe(before.delivered);
    hub.faults.add({ kind: 'unsettled', partition: '1' });
    const { bodies, receiver } = await eventReceiver(hub, { partition: 1 });
    await expect.poll(() => bodies.length).toBe(first.bodies.length);
    await expect.poll(() => hub.counters().settled - before.settled).toBe(bodies.length);
    expect(receiver.snd_settle_mode).not.toBe(1);
  });
});

describe('the list of faults', () => {
  test('shows standing faults and how often each applied', async () => {
    const id = hub.faults.add({ kind: 'refuse-token', answer: 'refuse', connections: 'service' });
    await putToken(hub, await bareConnection(hub), 'service');
    const fault = { kind: 'refuse-token', answer: 'refuse', connections: 'service' };
    expect(hub.faults.list()).toEqual([{ id, fault, struck: 1 }]);
    expect(hub.faults.clear(id)).toBe(1);
    expect(hub.faults.list()).toEqual([]);
    expect(hub.faults.clear(id)).toBe(0);
  });
  test('removes faults that are used up', async () => {
    hub.faults.add({ kind: 'refuse-token', answer: 'refuse', connections: 'events', times: 1 });
    await putToken(hub, await bareConnection(hub), 'events');
    expect(hub.faults.list()).toEqual([]);
  });
});
