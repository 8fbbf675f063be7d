import { once } from 'node:events';
import { connect } from 'node:net';
import { describe, expect, test, vi } from 'vitest';
import { startHub } from '../src/hub.ts';
import { inject } from '../src/testing/inject.ts';
import {
  append,
  bareConnection,
  disconnected,
  ended,
  eventReceiver,
  nextOutcome,
  outcomeOf,
  putToken,
  serviceLink,
  toDevice,
} from './support/bare.ts';
import { connectedDevice, connectPacket, publishPacket, rawDevice, subscribe } from './support/device.ts';
import { listenInTest } from './support/eventClients.ts';
import { deviceForEach, hubForEach, hubForFaults, hubToRestart } from './support/sharedHub.ts';

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
    return { told, errors: [receiver.error, connection.error] };
  }
  test('ends its links and sessions first, for the same reason, like IoT Hub', async () => {
    const { told, errors } = await endsOf();
    expect(told).toEqual(['link', 'session', 'connection']);
    expect(errors).toMatchObject(Array(2).fill({ condition: 'amqp:connection:forced' }));
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

describe('while a fault stands', () => {
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
    test.each([{ times: 1 }, { skip: 1 }])('a port that is closed for some only resets those: %j', async (often) => {
      hub.faults.add({ kind: 'refuse-connection', answer: 'closed', port: 'mqtts', ...often });
      if ('skip' in often) await connectedDevice(hub, 'pump-1');
      await expect(rawDevice(hub)).rejects.toMatchObject({ code: 'ECONNRESET' });
      if ('times' in often) await connectedDevice(hub, 'pump-1');
    });
    test('no port opens during a restart, and none at its end that a fault closes', async () => {
      const down = hub.faults.strike({ kind: 'restart', downMs: 200 });
      hub.faults.add({ kind: 'refuse-connection', answer: 'closed', port: 'amqp' });
      await new Promise((resolve) => setTimeout(resolve, 50));
      expect(await listening(hub.ports.mqtts)).toBe('ECONNREFUSED');
      await down;
      expect([await listening(hub.ports.mqtts), await listening(hub.ports.amqp)]).toEqual(['open', 'ECONNREFUSED']);
      hub.faults.clear();
      await expect.poll(() => listening(hub.ports.amqp)).toBe('open');
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
    test('may end at once: nothing is sent to a device whose connection has ended', async () => {
      const first = await connectedDevice(hub, 'pump-1', { clean: false });
      await subscribe(first, 'pump-1', 0);
      first.send({ cmd: 'disconnect' });
      await first.closed;
      hub.devicebound.enqueue('pump-1', { system: {}, properties: {}, body: Buffer.from('x') }, 'service');
      hub.faults.add({ kind: 'token-life', ms: 0, connections: 'device', times: 1 });
      await (await connectedDevice(hub, 'pump-1', { clean: false })).closed;
      expect(hub.devicebound.pending('pump-1')).toHaveLength(1);
      hub.devicebound.purge('pump-1');
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

  test('the list of faults shows how often each applied, and none that is used up', async () => {
    const fault = { kind: 'refuse-token', answer: 'refuse', connections: 'service' } as const;
    const id = hub.faults.add(fault);
    hub.faults.add({ ...fault, times: 1, connections: 'events' });
    const statuses: number[] = [];
    for (const use of ['service', 'events', 'events'] as const)
      statuses.push(await putToken(hub, await bareConnection(hub), use));
    expect(statuses).toEqual([401, 401, 202]);
    expect(hub.faults.list()).toEqual([{ id, fault, struck: 1 }]);
    expect(hub.faults.clear(id)).toBe(1);
    expect(hub.faults.list()).toEqual([]);
    expect(hub.faults.clear(id)).toBe(0);
  });
});

describe('settling', () => {
  let deviceId = '';
  const hub = hubForFaults();
  deviceForEach(hub, (id) => (deviceId = id));

  const pending = () => hub.devicebound.pending(deviceId).length;
  const sendOne = async () => {
    const sender = await serviceLink(hub);
    const outcome = nextOutcome(sender);
    sender.send(toDevice(deviceId));
    return { sender, outcome };
  };

  describe('a message of a service', () => {
    const condition = 'amqp:resource-limit-exceeded';
    test.each<[string, Parameters<typeof hub.faults.add>[0], string, number]>([
      ['released', { kind: 'settle', answer: 'release', times: 1 }, 'released', 0],
      ['modified', { kind: 'settle', answer: 'modify', times: 1 }, 'modified', 0],
      ['rejected', { kind: 'settle', answer: 'reject', times: 1 }, 'amqp:internal-error', 0],
      ['rejected with a condition', { kind: 'settle', answer: 'reject', condition, times: 1 }, condition, 0],
      ['released, and taken in', { kind: 'settle', answer: 'release', effect: true, times: 1 }, 'released', 1],
      ['settled after the delay', { kind: 'settle', answer: 'delay', ms: 20, times: 1 }, 'accepted', 1],
    ])('is %s when the fault says so, and the next one is accepted', async (_, fault, outcome, taken) => {
      hub.faults.add(fault);
      expect(await (await sendOne()).outcome).toBe(outcome);
      expect(pending()).toBe(taken);
      expect(await (await sendOne()).outcome).toBe('accepted');
    });
    test('is held until the fault is cleared, and then settled as without it', async () => {
      const id = hub.faults.add({ kind: 'settle', answer: 'hold', times: 1 });
      const { outcome } = await sendOne();
      expect(await (await sendOne()).outcome).toBe('accepted');
      expect(await Promise.race([outcome, 'held'])).toBe('held');
      hub.faults.clear(id);
      expect(await outcome).toBe('accepted');
      expect(pending()).toBe(2);
    });
    test('that is held for an unknown device is rejected when the fault is cleared', async () => {
      const id = hub.faults.add({ kind: 'settle', answer: 'hold' });
      const outcome = outcomeOf(await serviceLink(hub), toDevice('nobody'));
      await expect.poll(() => hub.faults.list()[0]?.struck).toBe(1);
      hub.faults.clear(id);
      expect(await outcome).toBe('amqp:not-found');
    });
    test('is in the journal when a fault changed its answer', async () => {
      hub.faults.add({ kind: 'settle', answer: 'reject', times: 1 });
      const message = { ...toDevice(deviceId), message_id: 'reply-1', correlation_id: 'request-1' };
      await outcomeOf(await serviceLink(hub), message);
      expect(hub.journal.list({ kind: 'c2d-fault', deviceId })).toEqual([
        expect.objectContaining({ messageId: 'reply-1', correlationId: 'request-1', answer: 'reject' }),
      ]);
    });
    test('is never settled, but the next one is', async () => {
      hub.faults.add({ kind: 'settle', answer: 'never', times: 1 });
      const { sender, outcome } = await sendOne();
      await expect.poll(pending).toBe(1);
      sender.send(toDevice(deviceId, 'second'));
      expect(await outcome).toBe('accepted');
      expect(pending()).toBe(2);
    });
    test('has its link detached, with a condition or without', async () => {
      hub.faults.add({ kind: 'settle', answer: 'detach', condition: 'amqp:link:detach-forced', times: 1 });
      expect(await ended((await sendOne()).sender)).toBe('amqp:link:detach-forced');
      hub.faults.add({ kind: 'settle', answer: 'detach', times: 1 });
      expect(await ended((await sendOne()).sender)).toBeUndefined();
    });
    test('is stored although its connection is closed with the reason', async () => {
      hub.faults.add({ kind: 'settle', answer: 'close', condition: 'amqp:connection:forced' });
      const { connection } = (await sendOne()).sender;
      await once(connection, 'connection_close');
      expect(connection.error).toMatchObject({ condition: 'amqp:connection:forced' });
      expect(pending()).toBe(1);
    });
    test.each(['fin', 'rst'] as const)('is stored although its connection ends by %s', async (answer) => {
      hub.faults.add({ kind: 'settle', answer });
      await disconnected((await sendOne()).sender.connection);
      expect(pending()).toBe(1);
    });
    test('is not affected by a fault for another device, another kind of link, or later messages', async () => {
      hub.faults.add({ kind: 'settle', answer: 'reject', deviceId: 'other' });
      hub.faults.add({ kind: 'settle', answer: 'reject', link: 'd2c' });
      hub.faults.add({ kind: 'settle', answer: 'reject', link: 'c2d', deviceId, skip: 1 });
      expect(await (await sendOne()).outcome).toBe('accepted');
      expect(await (await sendOne()).outcome).toBe('amqp:internal-error');
    });
  });

  describe('a message of a device over MQTT', () => {
    const publish = async () => {
      const device = await connectedDevice(hub, deviceId);
      device.send(publishPacket(`devices/${deviceId}/messages/events/`, 'x'));
      return device;
    };
    const appended = () => hub.journal.list({ deviceId, kind: 'd2c' }).length;

    test('is acknowledged when the fault that holds it is cleared', async () => {
      hub.faults.add({ kind: 'settle', answer: 'hold', link: 'd2c' });
      const device = await publish();
      await expect.poll(appended).toBe(1);
      const acknowledged = vi.fn();
      const packet = device.next('puback').then(acknowledged);
      device.send({ cmd: 'pingreq' });
      await device.next('pingresp');
      expect(acknowledged).not.toHaveBeenCalled();
      hub.faults.clear();
      await packet;
      device.socket.destroy();
    });
    test.each([
      ['stored although the connection was reset before the acknowledgement', 'rst', 1],
      ['not stored when it is rejected, and its connection ends', 'reject', 0],
    ] as const)('is %s', async (_, answer, stored) => {
      hub.faults.add({ kind: 'settle', answer, link: 'd2c' });
      await (await publish()).closed;
      expect(appended()).toBe(stored);
    });
  });
});

describe('a failover', () => {
  const hub = hubForEach({ devices: [{ deviceId: 'pump-1' }], partitions: 2 });
  const failOver = (left?: 'closed' | 'silent') => hub.faults.strike({ kind: 'failover', ...(left && { left }) });

  const listen = (connectionString = hub.eventHubConnectionString('events')) =>
    listenInTest(hub, { startPosition: { offset: '-1' }, partition: '0', connectionString });
  /** What an official client of an endpoint reads, until it has so many events. */
  const readAll = async (count: number, connectionString?: string) =>
    (await listen(connectionString).has(count)).map(({ body, sequenceNumber }) => `${sequenceNumber} ${body}`);

  test('an official client reads other events, with numbers from the beginning, at another endpoint, and the first ones on the way back', async () => {
    await inject(hub, ['a', 'b'], { partition: 0 });
    const first = hub.endpoint().name;
    expect(await failOver()).toBe(0);
    expect(hub.endpoint().name).not.toBe(first);
    await inject(hub, ['c'], { partition: 0 });
    expect(await readAll(1)).toEqual(['0 c']);
    await failOver();
    expect(hub.endpoint().name).toBe(first);
    await inject(hub, ['d'], { partition: 0 });
    expect(await readAll(3)).toEqual(['0 a', '1 b', '2 d']);
  });
  test('the endpoint before is not there any more, and its connections end', async () => {
    const before = hub.eventHubConnectionString('events');
    const { connection } = await eventReceiver(hub);
    const closed = once(connection, 'connection_close');
    expect(await failOver()).toBe(1);
    await closed;
    expect(connection.error).toMatchObject({ condition: 'amqp:connection:forced' });
    expect(await listen(before).failed()).toMatchObject({ code: 'MessagingEntityNotFoundError' });
  });
  test('the endpoint before stays without new events, if the fault says so', async () => {
    const before = hub.eventHubConnectionString('events');
    await inject(hub, ['a'], { partition: 0 });
    await failOver('silent');
    await inject(hub, ['b'], { partition: 0 });
    expect(await readAll(1, before)).toEqual(['0 a']);
    expect(await readAll(1)).toEqual(['0 b']);
  });
  test('messages to devices are lost, and the hub takes new ones', async () => {
    expect(await outcomeOf(await serviceLink(hub), toDevice('pump-1', 'lost'))).toBe('accepted');
    expect(hub.devicebound.pending('pump-1')).toHaveLength(1);
    await failOver();
    expect(hub.devicebound.pending('pump-1')).toEqual([]);
    expect(hub.journal.list({ kind: 'c2d-settled' })).toMatchObject([{ deviceId: 'pump-1', outcome: 'lost' }]);
    expect(await outcomeOf(await serviceLink(hub), toDevice('pump-1', 'kept'))).toBe('accepted');
    expect(hub.devicebound.pending('pump-1')).toHaveLength(1);
  });

  const { start } = hubToRestart({ partitions: 1 });
  test('is known after a restart to a hub that keeps its events, with those of both endpoints', async () => {
    const before = await start();
    append(before, ['first']);
    await before.faults.strike({ kind: 'failover' });
    const { name, partitions } = before.endpoint();
    expect([name, partitions[0]?.next()]).toEqual(['sandbox-hub-secondary', 0]);

    const after = await start();
    expect(after.endpoint().name).toBe(name);
    await after.faults.strike({ kind: 'failover' });
    expect(after.endpoint().partitions[0]?.next()).toBe(1);
  });
});
