import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { connect } from 'node:net';
import rhea, { type Connection, type EventContext, type Message, type Receiver, type Sender } from 'rhea';
import { afterEach, beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { signSas } from '../../../sandbox/hub/identity/sas.ts';
import { connectedDevice, publishPacket } from './support/device.ts';
import { freshHub } from './support/hub.ts';

// Frame-level checks with a bare AMQP client: what the official ones are too well-behaved to try.

let hub: Awaited<ReturnType<typeof freshHub>>;
const retention = 5000;
let lead = 0;
beforeEach(async () => {
  lead = 0;
  hub = await freshHub({ devices: [{ deviceId: 'pump-1' }], partitions: 1, retention, now: () => Date.now() + lead });
});
afterEach(() => hub.stop());

const open = async (tls = false): Promise<Connection> => {
  const container = rhea.create_container();
  for (const name of [
    'disconnected',
    'connection_error',
    'connection_close',
    'error',
    'receiver_error',
    'sender_error',
  ])
    container.on(name, () => undefined);
  const ca = readFileSync(hub.caFile);
  const connection = tls
    ? container.connect({ port: hub.ports.amqps, host: 'localhost', reconnect: false, transport: 'tls', ca })
    : container.connect({ port: hub.ports.amqp, host: '127.0.0.1', reconnect: false });
  onTestFinished(() => connection.close());
  await once(connection, 'connection_open');
  return connection;
};

const next = async (link: Receiver): Promise<Message> => {
  const [{ message }] = (await once(link, 'message')) as [EventContext];
  if (!message) throw new Error('There is no message.');
  return message;
};

/** Put a token on the connection; answers the status. */
const putToken = async (connection: Connection, policy: string, seconds = 600): Promise<number> => {
  const key = /SharedAccessKey=([^;]*)/.exec(hub.eventHubConnectionString(policy))?.[1] ?? '';
  const audience = `sb://127.0.0.1:${hub.ports.amqp}/sandbox-hub`;
  const body = signSas(audience, key, 'utf8', Math.floor(Date.now() / 1000) + seconds, policy);
  const receiver = connection.open_receiver({ source: '$cbs', target: 'answers' });
  const sender = connection.open_sender('$cbs');
  await once(sender, 'sendable');
  sender.send({
    message_id: 'one',
    reply_to: 'answers',
    application_properties: { operation: 'put-token', type: 'servicebus.windows.net:sastoken', name: audience },
    body,
  });
  const answer = await next(receiver);
  expect(answer.correlation_id).toBe('one');
  return answer.application_properties?.['status-code'];
};

const partition = 'sandbox-hub/ConsumerGroups/$Default/Partitions/0';
const publish = async (bodies: string[]) => {
  const device = await connectedDevice(hub, 'pump-1');
  for (const body of bodies) {
    device.send(publishPacket('devices/pump-1/messages/events/', body));
    await device.next('puback');
  }
  device.socket.destroy();
};
const event4k = rhea.message.encode({ body: rhea.message.data_section(Buffer.alloc(4096)) });
/** Append events whose bodies are their numbers. */
const append = (count: number) => {
  for (let i = 0; i < count; i++)
    hub.partitions[0]?.append(() => rhea.message.encode({ body: rhea.message.data_section(Buffer.from(String(i))) }));
};
const refusal = async (link: Sender | Receiver, event: string) => {
  await once(link, event);
  return (link.error as { condition?: string } | undefined)?.condition;
};

describe('credit', () => {
  test('a receiver gets as many events as it has given credit for, and no more', async () => {
    await publish(['a', 'b', 'c', 'd', 'e']);
    const connection = await open();
    expect(await putToken(connection, 'events')).toBe(202);
    const receiver = connection.open_receiver({ source: partition, credit_window: 0 });
    const bodies: string[] = [];
    receiver.on('message', ({ message }: EventContext) => bodies.push(message?.body.content.toString()));
    await once(receiver, 'receiver_open');
    receiver.add_credit(2);
    await expect.poll(() => bodies).toEqual(['a', 'b']);
    // a request on the same connection is answered after anything that was already on its way
    await putToken(connection, 'events');
    expect(bodies).toEqual(['a', 'b']);
    receiver.add_credit(1);
    await expect.poll(() => bodies).toEqual(['a', 'b', 'c']);
  });
  test('credit that is drained is used for what there is and then gone', async () => {
    await publish(['a']);
    const connection = await open();
    await putToken(connection, 'events');
    const receiver = connection.open_receiver({ source: partition, credit_window: 0 });
    const bodies: string[] = [];
    receiver.on('message', ({ message }: EventContext) => bodies.push(message?.body.content.toString()));
    await once(receiver, 'receiver_open');
    receiver.add_credit(10);
    receiver.drain_credit();
    await once(receiver, 'receiver_drained');
    expect(bodies).toEqual(['a']);
    await publish(['b']);
    await putToken(connection, 'events');
    expect(bodies).toEqual(['a']);
  });
  test('more events than a session can hold at once all arrive, in order', async () => {
    const count = 5000;
    append(count);
    const connection = await open();
    await putToken(connection, 'events');
    const receiver = connection.open_receiver({ source: partition, credit_window: 0 });
    const bodies: number[] = [];
    receiver.on('message', ({ message }: EventContext) => bodies.push(Number(message?.body.content)));
    await once(receiver, 'receiver_open');
    receiver.add_credit(count);
    await expect.poll(() => bodies.length, { timeout: 5000 }).toBe(count);
    expect(bodies).toEqual([...Array(count).keys()]);
  });
  test('a receiver that the retention has overtaken goes on with the oldest event there is', async () => {
    append(1);
    const connection = await open();
    await putToken(connection, 'events');
    const receiver = connection.open_receiver({ source: partition, credit_window: 0 });
    await once(receiver, 'receiver_open');
    append(retention + 10);
    receiver.add_credit(1);
    expect((await next(receiver)).body.content.toString()).toBe('10');
  });
  test('a receiver that stops reading holds nobody up, and gets everything when it reads on', async () => {
    const slow = await open();
    await putToken(slow, 'events');
    const receiver = slow.open_receiver({ source: partition, credit_window: 0 });
    let received = 0;
    receiver.on('message', () => received++);
    await once(receiver, 'receiver_open');
    receiver.add_credit(4000);
    await putToken(slow, 'events'); // the credit has arrived
    slow['socket'].pause();
    for (let i = 0; i < 4000; i++) hub.partitions[0]?.append(() => event4k);
    const other = await open();
    expect(await putToken(other, 'events')).toBe(202);
    expect(received).toBeLessThan(4000);
    slow['socket'].resume();
    await expect.poll(() => received, { timeout: 5000 }).toBe(4000);
  });
  test('events can be received over TLS as well', async () => {
    await publish(['a']);
    const connection = await open(true);
    expect(await putToken(connection, 'events')).toBe(202);
    const receiver = connection.open_receiver(partition);
    expect((await next(receiver)).body.content.toString()).toBe('a');
  });
});

describe('tokens', () => {
  test('a receiver without a token is refused', async () => {
    const connection = await open();
    const receiver = connection.open_receiver(partition);
    expect(await refusal(receiver, 'receiver_error')).toBe('amqp:unauthorized-access');
  });
  test.each(['/messages/serviceBound/feedback', '/messages/serviceBound/filenotifications'])(
    'a receiver of %s without the right of service connect is refused',
    async (address) => {
      const connection = await open();
      await putToken(connection, 'events');
      const receiver = connection.open_receiver(address);
      expect(await refusal(receiver, 'receiver_error')).toBe('amqp:unauthorized-access');
    },
  );
  test('a link to the devices without a token is refused', async () => {
    const connection = await open();
    const sender = connection.open_sender('/messages/devicebound');
    expect(await refusal(sender, 'sender_error')).toBe('amqp:unauthorized-access');
  });
  test('an expired token is refused', async () => {
    expect(await putToken(await open(), 'events', -1)).toBe(401);
  });
  test('a receiver is closed when its token has expired', async () => {
    const connection = await open();
    await putToken(connection, 'events', 600);
    const receiver = connection.open_receiver(partition);
    await once(receiver, 'receiver_open');
    lead = 601_000;
    const closed = refusal(receiver, 'receiver_error');
    hub.partitions[0]?.append(() => rhea.message.encode({ body: 'x' }));
    expect(await closed).toBe('amqp:unauthorized-access');
  });
});

describe('misbehaviour', () => {
  test('five receivers may share a partition, the sixth is refused', async () => {
    const connection = await open();
    await putToken(connection, 'events');
    for (let i = 0; i < 5; i++)
      await once(connection.open_receiver({ source: partition, name: `r${i}` }), 'receiver_open');
    const sixth = connection.open_receiver({ source: partition, name: 'r5' });
    expect(await refusal(sixth, 'receiver_error')).toBe('amqp:resource-limit-exceeded');
  });
  test('a filter that Event Hubs does not know is refused', async () => {
    const connection = await open();
    await putToken(connection, 'events');
    const filter = {
      'apache.org:selector-filter:string': rhea.types.wrap_described("amqp.annotation.colour > 'red'", 0x468c00000004),
    };
    const receiver = connection.open_receiver({ source: { address: partition, filter } });
    expect(await refusal(receiver, 'receiver_error')).toBe('com.microsoft:argument-error');
  });
  test('an address where there is nothing is not found', async () => {
    const connection = await open();
    expect(await refusal(connection.open_receiver('nowhere'), 'receiver_error')).toBe('amqp:not-found');
    expect(await refusal(connection.open_sender('nowhere'), 'sender_error')).toBe('amqp:not-found');
  });
  test.each([
    ['text', Buffer.from('GET / HTTP/1.1\r\n\r\n')],
    ['another version of AMQP', Buffer.from('AMQP\0\0\x09\x01')],
    ['a frame that is none', Buffer.concat([Buffer.from('AMQP\0\x01\0\0'), Buffer.alloc(64, 0xff)])],
    ['a frame of nothing', Buffer.from('AMQP\0\x01\0\0\0\0\0\x08\x01\0\0\0')],
  ])('%s ends that connection and no other', async (_, bytes) => {
    const healthy = await open();
    const socket = connect(hub.ports.amqp, '127.0.0.1');
    socket.on('error', () => undefined);
    socket.resume();
    const closed = new Promise((resolve) => socket.on('close', resolve));
    socket.write(bytes);
    await closed;
    expect(await putToken(healthy, 'events')).toBe(202);
  });
});
