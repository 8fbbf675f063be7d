import { EventEmitter } from 'node:events';
import { describe, expect, test } from 'vitest';
import { hubForEach } from '../../iot-hub-emulator/test/support/sharedHub.ts';
import { errors, SenderLink, translateError } from '../../src/hub/serviceSdk.ts';
import { plainService, send, transportOf } from './support/plain.ts';

// Each trap is reproduced against the plain azure-iothub: a new version of it that behaves otherwise fails here.

const rules = { devicebound: { pending: 10_000 } };
const hub = hubForEach({ devices: [{ deviceId: 'pump-1' }], rules });

const received = () => hub.journal.list({ deviceId: 'pump-1', kind: 'c2d' });
const receivedBodies = () => received().map((entry) => ('body' in entry ? entry.body.toString() : ''));

test('trap 1: an error that is translated is its own cause', () => {
  for (const error of [new errors.NotConnectedError('x'), new errors.ServiceUnavailableError('x')])
    expect(Reflect.get(translateError('sending failed', error), 'amqpError')).toBe(error);
});

describe('trap 3: send() reports too much or nothing:', () => {
  test.each(['release', 'modify'] as const)('it resolves without a result when the hub answers %s', async (answer) => {
    hub.faults.add({ kind: 'settle', answer });
    const client = plainService(hub);
    await client.open();
    const { result } = await send(client, 'pump-1', 'lost');
    expect(result).toBeUndefined();
    expect(received()).toEqual([]);
    await client.close();
  });
  test('one lost disposition keeps the places of all sends after it', async () => {
    hub.faults.add({ kind: 'settle', answer: 'never', times: 1 });
    const client = plainService(hub);
    await client.open();
    void send(client, 'pump-1', 'never settled').catch(() => undefined); // when the hub ends
    await expect.poll(() => received().length).toBe(1);
    await Promise.all(Array.from({ length: 89 }, () => send(client, 'pump-1', 'x')));
    const { _rheaSession: session } = Reflect.get(transportOf(client), '_amqp');
    expect(session.outgoing.deliveries.size).toBe(90);
    await client.close();
  });
});

test('trap 4: as many links are attached as first sends are made at once', async () => {
  const client = plainService(hub);
  await client.open();
  const held = hub.faults.add({ kind: 'settle', answer: 'hold' });
  const sends = Array.from({ length: 20 }, (_, i) => send(client, 'pump-1', String(i)));
  await expect.poll(() => received().length).toBe(20);
  expect(hub.counters().links - 2).toBe(20); // besides the two of $cbs
  hub.faults.clear(held);
  await Promise.all(sends);
  await client.close();
});

describe('trap 5: open() retries silently', () => {
  test('when the certificate of the hub is not trusted', async () => {
    const client = plainService(hub, false);
    let over = false;
    void client.open().finally(() => {
      over = true;
    });
    const attempts = hub.faults.add({ kind: 'refuse-connection', answer: 'reset', port: 'amqps' });
    await expect.poll(() => hub.faults.list().find(({ id }) => id === attempts)?.struck).toBeGreaterThan(2);
    expect(over).toBe(false);
    stopTrying(client);
  });
});

test('trap 6: a message that the hub refuses for the moment is sent again after later ones', async () => {
  hub.faults.add({ kind: 'settle', answer: 'reject', condition: 'amqp:internal-error', skip: 1, times: 1 });
  const client = plainService(hub);
  await client.open();
  await send(client, 'pump-1', 'first');
  await Promise.all(['second', 'third'].map((body) => send(client, 'pump-1', body)));
  expect(receivedBodies()).toEqual(['first', 'third', 'second']);
  await client.close();
});

test('a link that the hub has not answered is told of no error when it ends', () => {
  const ends: unknown[] = [];
  const session = { open_sender: () => Object.assign(new EventEmitter(), { remove: () => undefined }) };
  const link = new SenderLink('a', {}, session as never);
  link.attach((...told) => ends.push(told));
  link.forceDetach();
  expect(ends).toEqual([[undefined]]);
});

test('trap 7: one refused token ends renewal for good, without an error', async () => {
  const client = plainService(hub);
  Reflect.set(transportOf(client), '_renewalNumberOfMilliseconds', 100); // 45 minutes as it comes
  const disconnected: unknown[] = [];
  client.on('disconnect', (error) => disconnected.push(error));
  await client.open();
  await send(client, 'pump-1', 'x');
  const id = hub.faults.add({ kind: 'refuse-token', answer: 'refuse', connections: 'service' });
  const asked = () => hub.faults.list().find((fault) => fault.id === id)?.struck;
  await expect.poll(asked).toBe(1);
  await new Promise((resolve) => setTimeout(resolve, 1000)); // ten times the pause between two renewals
  expect(asked()).toBe(1);
  expect(disconnected).toEqual([]);
  await client.close();
});

/** Have a client try nothing again: so one ends that has never connected, which its own `close` cannot. */
function stopTrying(client: ReturnType<typeof plainService>): void {
  client.setRetryPolicy({ shouldRetry: () => false, nextRetryTimeout: () => -1 });
}
