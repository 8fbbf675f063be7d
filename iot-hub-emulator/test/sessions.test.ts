import { createRequire } from 'node:module';
import rhea from 'rhea';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { append, keyOf } from './support/bare.ts';
import {
  attachReceiver,
  beginning,
  binary,
  described,
  detach,
  flow,
  frame,
  list,
  login,
  no,
  nothing,
  type RawClient,
  rawClient,
  rawSession,
  source,
  target,
  text,
  uint,
  yes,
} from './support/rawClient.ts';
import { hubForEach } from './support/sharedHub.ts';

// What a client may ask of a session, and what of that the hub asks of its AMQP library, which has no bounds.

interface Library {
  prototype: { on_disposition(frame: { performative: { first: number; last: number } }): void };
}
const Session: Library = createRequire(import.meta.url)('rhea/lib/session.js');
const { Sender } = createRequire(import.meta.url)('rhea/lib/link.js');

const hub = hubForEach({ partitions: 1, ownerMaySend: true });
afterEach(() => void vi.restoreAllMocks());

const partition = 'sandbox-hub/ConsumerGroups/$Default/Partitions/0';
const accepted = described(0x24, list());
const disposition = (role: Buffer, first: number, last: number) =>
  frame('disposition', [role, uint(first), uint(last), yes, accepted]);

describe('a disposition', () => {
  test.each([
    [0, 5000, [0, 2]],
    [1, 1, [1, 1]],
    [2, 3, [2, 2]],
  ])('of the deliveries %i to %i is one of those that there are', async (first, last, expected) => {
    const asked = vi.spyOn(Session.prototype, 'on_disposition');
    hub.faults.add({ kind: 'unsettled' });
    append(hub, ['a', 'b', 'c']);
    const client = await rawSession(hub);
    client.send(attachReceiver('events', 0, partition), flow(0, 10));
    await client.has('transfer', 3);
    client.send(disposition(yes, first, last), detach(0));
    await client.has('detach');
    expect(asked.mock.calls.map(([{ performative }]) => [performative.first, performative.last])).toEqual([expected]);
  });
  test('of none that there is has no effect', async () => {
    const asked = vi.spyOn(Session.prototype, 'on_disposition');
    const client = await rawSession(hub);
    await client.has('begin');
    client.send(disposition(yes, 0, 5000), disposition(no, 0, 5000), frame('end', []));
    await client.has('end');
    expect(asked).not.toHaveBeenCalled();
  });
});

test('credit that is drained is given back at once, however much it is', async () => {
  const counted = vi.spyOn(Sender.prototype, '_get_drain');
  append(hub, ['a']);
  const client = await rawSession(hub);
  const drain = [nothing, uint(5000), uint(0), uint(100), uint(0), uint(0), uint(10), nothing, yes];
  client.send(attachReceiver('events', 0, partition), frame('flow', drain));
  const [answer] = await client.has('flow');
  const [, , , , , count, credit, , drained] = answer?.fields.map(({ value }) => value) ?? [];
  expect([count, credit, drained]).toEqual([10, 0, true]);
  expect(counted).not.toHaveBeenCalled();
});

test.each([
  [500, 'end'],
  [511, 'end'],
  [512, 'begin'],
])('a client that takes frames of %i bytes gets: %s', async (size, answer) => {
  const client = await rawClient(hub);
  client.send(login('events', keyOf(hub, 'events')));
  await client.has('outcome');
  const usual = beginning();
  const open = frame('open', [text('raw'), text('localhost'), uint(size)]);
  client.send(usual.subarray(0, 8), open, usual.subarray(8 + usual.readUInt32BE(8)));
  if (answer === 'begin') await client.has('begin');
  else await client.ended;
  expect(client.frames.some(({ kind }) => kind === 'begin')).toBe(answer === 'begin');
});

describe('the window of a session has room again', () => {
  const attachSender = (handle: number) =>
    frame('attach', [
      ...[text(`sender ${handle}`), uint(handle), no, nothing, nothing, source('here'), target(hub.name)],
      ...[nothing, nothing, uint(0)],
    ]);
  let next = 0;
  const some = (handle: number) =>
    Array.from({ length: 500 }, () => {
      const id = next++;
      return frame('transfer', [uint(handle), uint(id), binary(String(id))], rhea.message.encode({ body: 'x' }));
    });
  const expectAnswer = async (client: RawClient, handle: number) => {
    const before = client.frames.filter(({ kind }) => kind === 'disposition').length;
    client.send(...some(handle).slice(0, 1));
    await client.has('disposition', before + 1);
  };

  test('after messages that are never answered', async () => {
    next = 0;
    const id = hub.faults.add({ kind: 'settle', answer: 'never' });
    const client = await rawSession(hub, 'iothubowner');
    client.send(attachSender(0));
    for (let round = 1; round <= 6; round += 1) {
      await client.has('flow', round);
      client.send(...some(0));
    }
    await client.has('flow', 7);
    hub.faults.clear(id);
    await expectAnswer(client, 0);
  });
  test('after messages that came on links which the hub had detached', async () => {
    next = 0;
    const client = await rawSession(hub, 'iothubowner');
    for (let round = 1; round <= 6; round += 1) {
      client.send(attachSender(0));
      await client.has('attach', round);
      await hub.faults.strike({ kind: 'detach' });
      await client.has('detach', round);
      client.send(...some(0), detach(0));
    }
    client.send(attachSender(1));
    await client.has('attach', 7);
    await expectAnswer(client, 1);
  });
});
