import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import rhea, { type EventContext, type Message } from 'rhea';
import { describe, expect, test } from 'vitest';
import { signSas } from '../src/identity/sas.ts';
import { inject } from '../src/testing/inject.ts';
import {
  append,
  bareConnection,
  eventAudience,
  eventToken,
  keyOf,
  outcomeOf,
  putDeviceToken,
  putToken,
  toDevice,
} from './support/bare.ts';
import {
  attachReceiver,
  binary,
  codes,
  described,
  detach,
  flow,
  frame,
  list,
  map,
  no,
  nothing,
  type RawClient,
  type RawFrame,
  type RawValue,
  rawClient,
  rawSession,
  source,
  symbol,
  target,
  text,
  uint,
  yes,
} from './support/rawClient.ts';
import { hubForEach } from './support/sharedHub.ts';

// Clients of AMQP that are not written with Node's library: what they pipeline, which fields they take by their place, how
// they write addresses and tokens.

const rules = { bounds: { links: 40 } };
const hub = hubForEach({ devices: [{ deviceId: 'pump-1' }], partitions: 2, ownerMaySend: true, rules });

const partition = 'sandbox-hub/ConsumerGroups/$Default/Partitions/0';
const started = (incomingWindow?: number) => rawSession(hub, 'events', incomingWindow);
const plain = ({ value }: RawValue): unknown => value ?? null;
const fieldsOf = (value: RawValue | undefined): readonly RawValue[] => (value?.value ?? []) as RawValue[];
const bodyOf = ({ payload }: RawFrame): string => String(rhea.message.decode(payload).body.content);
const errorOf = (value: RawValue | undefined): unknown => fieldsOf(value).map(plain)[0];

describe('a session in which a link was closed and another attached in the same write', () => {
  test('gets no transfer of a link before its attach, and every event', async () => {
    append(hub, ['a', 'b', 'c']);
    const client = await started();
    await client.has('begin');
    for (let round = 1; round <= 3; round += 1) {
      client.send(attachReceiver('link', 0, partition), flow(0, 3));
      await client.has('transfer', 3 * round);
      client.send(detach(0));
      if (round === 2) await client.has('detach', 2); // the answer may have come or not
    }
    const open = new Set<unknown>();
    for (const { kind, fields } of client.frames) {
      const handle = fields[kind === 'attach' ? 1 : 0]?.value;
      if (kind === 'attach') open.add(handle);
      if (kind === 'transfer') expect(open, 'the link of a transfer is attached').toContain(handle);
      if (kind === 'detach') open.delete(handle);
    }
    const transfers = await client.has('transfer', 9);
    expect(transfers.map(bodyOf).join('')).toBe('abcabcabc');
  });
  test('gets nothing on the new link that waited for the old one', async () => {
    append(hub, ['old'], 0);
    append(hub, ['1', '2', '3'], 0);
    append(hub, ['new'], 1);
    const client = await started(1); // the session takes one transfer, then none until it says so
    client.send(attachReceiver('first', 0, partition), flow(0, 10, 1));
    await client.has('transfer');
    client.send(detach(0));
    await client.has('detach');
    client.send(attachReceiver('second', 0, partition.replace(/0$/, '1')), flow(0, 10, 5000, 1));
    const transfers = await client.has('transfer', 2);
    expect(transfers.map(bodyOf)).toEqual(['old', 'new']);
    expect(transfers.map(({ fields }) => fields[1]?.value)).toEqual([0, 1]);
  });
});

describe('frames', () => {
  /** How many fields AMQP gives each kind. */
  const ofLinks = { attach: 14, flow: 11, transfer: 11, disposition: 6, detach: 3 };
  const complete = { open: 10, begin: 8, ...ofLinks, end: 1, close: 1 };

  test('have all their fields, and so has what is in them', async () => {
    append(hub, ['x']);
    const client = await started();
    const toCbs = frame('attach', [text('cbs'), uint(1), no, nothing, nothing, source(''), target('$cbs')]);
    client.send(attachReceiver('events', 0, partition), flow(0, 1), toCbs, attachReceiver('none', 2, 'nowhere'));
    await client.has('transfer');
    const request = rhea.message.encode({ body: 'none' });
    client.send(frame('transfer', [uint(1), uint(0), binary('0')], request));
    await client.has('disposition');
    client.send(frame('end', []));
    await client.has('end');
    client.send(frame('close', []));
    await client.has('close');
    const counts = Object.fromEntries(client.frames.map(({ kind, fields }) => [kind, fields.length]));
    expect(counts).toMatchObject(complete);
    const [first] = await client.has('attach');
    expect([fieldsOf(first?.fields[5]).length, fieldsOf(first?.fields[6]).length]).toEqual([11, 7]);
    const [refused] = await client.has('detach');
    const why = "The messaging entity 'nowhere' could not be found.";
    expect(fieldsOf(refused?.fields[2]).map(plain)).toEqual(['amqp:not-found', why, null]);
    const [begun] = await client.has('begin');
    expect(begun?.fields[4]?.value).toBe(262_143);
  });
  test('that answer an attach repeat its source, target and properties; those that refuse it have neither', async () => {
    const client = await started();
    const properties = map(symbol('com.microsoft:epoch'), Buffer.from([0x55, 7]));
    const condition = text("amqp.annotation.x-opt-offset > '-1'");
    const selector = [Buffer.from([0, 0x80, 0, 0, 0x46, 0x8c, 0, 0, 0, 4]), condition];
    const filter = map(symbol('apache.org:selector-filter:string'), Buffer.concat(selector));
    const none = Array(6).fill(nothing);
    const asked = described(0x28, list(text(`amqps://localhost/${partition}`), ...none, filter));
    const fields = [text('a'), uint(0), yes, nothing, nothing, asked, target('here'), ...none, properties];
    client.send(frame('attach', fields), attachReceiver('b', 1, 'nowhere'));
    const [answered, refused] = await client.has('attach', 2);
    expect(fieldsOf(answered?.fields[5])[0]?.value).toBe(`amqps://localhost/${partition}`);
    expect(JSON.stringify(fieldsOf(answered?.fields[5])[7])).toContain("x-opt-offset > '-1'");
    expect(fieldsOf(answered?.fields[6])[0]?.value).toBe('here');
    expect(fieldsOf(answered?.fields[13]).map(plain)).toEqual(['com.microsoft:epoch', 7]);
    expect([refused?.fields[5], refused?.fields[6]].map((field) => field && plain(field))).toEqual([null, null]);
  });
});

describe('a second link', () => {
  test('of the same name and direction is refused, and the first goes on', async () => {
    const client = await started();
    client.send(attachReceiver('link', 0, partition), attachReceiver('link', 7, partition));
    const [refused] = await client.has('detach');
    expect(errorOf(refused?.fields[2])).toBe('amqp:resource-locked');
    append(hub, ['x']);
    client.send(flow(0, 1));
    await client.has('transfer');
    client.send(detach(0), detach(7), attachReceiver('link', 0, partition), flow(0, 1));
    await client.has('transfer', 2);
  });
  test.each([
    ['of the same handle', 0, 'amqp:session:handle-in-use'],
    ['of a handle beyond the greatest', 262_144, 'amqp:connection:framing-error'],
  ])('%s ends the connection with the reason', async (_, handle, condition) => {
    const client = await started();
    client.send(attachReceiver('one', 0, partition), attachReceiver('two', handle, partition));
    const [closed] = await client.has('close');
    expect(errorOf(closed?.fields[0])).toBe(condition);
    await client.ended;
  });
  test('is refused with the connection when there are too many', async () => {
    const client = await started();
    const links = Array.from({ length: 41 }, (_, i) => attachReceiver(`link ${i}`, i, 'nowhere'));
    client.send(...links);
    const [closed] = await client.has('close');
    expect(errorOf(closed?.fields[0])).toBe('amqp:resource-limit-exceeded');
    await client.ended;
  });
});

const styles: [string, (path: string) => string][] = [
  ['with a slash before it', (path) => `/${path}`],
  ['that is a whole URI', (path) => `amqps://localhost:5671/${path}`],
];
test.each(styles)('an address %s is one of events, of requests, of services and of devices', async (_, address) => {
  const connection = await bareConnection(hub);
  await putToken(hub, connection, 'events', 'iothubowner');
  append(hub, ['x']);
  const receiver = connection.open_receiver(address(partition));
  const [{ message }] = (await once(receiver, 'message')) as [EventContext];
  expect(String(message?.body.content)).toBe('x');
  expect(receiver.source.address).toBe(address(partition));
  expect(await outcomeOf(connection.open_sender(address('sandbox-hub')), { body: 'x' })).toBe('accepted');
  await putToken(hub, connection, 'service');
  const toDevices = connection.open_sender(address('messages/devicebound'));
  expect(await outcomeOf(toDevices, toDevice('pump-1'))).toBe('accepted');
  const device = await bareConnection(hub);
  await putDeviceToken(hub, device, 'pump-1');
  const sender = device.open_sender(address('devices/pump-1/messages/events'));
  expect(await outcomeOf(sender, { body: 'x' })).toBe('accepted');
  expect(await statusOf(connection, address('sandbox-hub/$management'), {})).toBe(200);
});

/** The status of a request for the description of the hub, or of another one. */
async function statusOf(
  connection: Awaited<ReturnType<typeof bareConnection>>,
  node: string,
  more: object,
  body: unknown = '',
): Promise<number> {
  const receiver = connection.open_receiver({ source: node, target: 'answers' });
  const sender = connection.open_sender(node);
  await once(sender, 'sendable');
  const application_properties = { operation: 'READ', name: hub.name, type: 'com.microsoft:eventhub', ...more };
  sender.send({ message_id: 1, reply_to: 'answers', application_properties, body });
  const [{ message }] = (await once(receiver, 'message')) as [EventContext];
  expect(message?.correlation_id).toBe(1);
  return message?.application_properties?.['status-code'];
}

describe('a token', () => {
  test.each<[string, string, (sas: string) => unknown]>([
    ['as jwt', 'jwt', (sas) => sas],
    ['as bytes', 'servicebus.windows.net:sastoken', (sas) => Buffer.from(sas)],
    ['as a section of data', 'jwt', (sas) => rhea.message.data_section(Buffer.from(sas))],
  ])('that is a shared access signature is taken %s', async (_, type, body) => {
    const connection = await bareConnection(hub);
    const put = { operation: 'put-token', type, name: eventAudience(hub) };
    expect(await statusOf(connection, '$cbs', put, body(eventToken(hub, 'events')))).toBe(202);
    append(hub, ['x']);
    await once(connection.open_receiver(partition), 'message');
  });
  test('that is none is refused, whatever it is called', async () => {
    const connection = await bareConnection(hub);
    const put = { operation: 'put-token', type: 'jwt', name: eventAudience(hub) };
    const wrong = eventToken(hub, 'events').replace(/sig=[^&]*/, 'sig=none');
    expect(await statusOf(connection, '$cbs', put, wrong)).toBe(401);
    expect(await statusOf(connection, '$cbs', put, rhea.types.wrap_int(1))).toBe(400);
  });
  test('of a request for management is taken as bytes, too', async () => {
    const connection = await bareConnection(hub);
    const asked = (sas: string) => statusOf(connection, '$management', { security_token: Buffer.from(sas) });
    expect([await asked(eventToken(hub, 'events')), await asked('none')]).toEqual([200, 401]);
  });
});

describe('the official consumer for Python', () => {
  // What the official consumer for Python wrote, byte for byte but for the tokens, and what it must get. The cases have the
  // names of its own suite. It takes fields by their place: a frame that lacks some ends it.

  const now = 1_795_700_000_000;
  const hub = hubForEach({ partitions: 2, now: () => now });

  /** What the client wrote, and the kinds of frames that it got before. */
  interface Step {
    readonly got: readonly string[];
    readonly write: Buffer;
  }

  const recorded = new Map(
    readFileSync('iot-hub-emulator/test/fixtures/azure-eventhub-5.11.0.txt', 'utf8')
      .split(/^case /m)
      .slice(1)
      .map((text) => {
        const [name = '', ...lines] = text.trimEnd().split('\n');
        return [name, lines.map(stepOf)] as const;
      }),
  );

  function stepOf(line: string): Step {
    const [got = '', written = ''] = line.split('> ');
    return { got: got.split(' ').filter(Boolean), write: Buffer.from(written, 'hex') };
  }

  /** A token of the policy `events` with so many characters: what is signed is the time, and that can begin with zeros. */
  function tokenOf(length: number): string {
    for (let seconds = 600; ; seconds += 1) {
      const resource = 'sb://localhost:5671/sandbox-hub';
      const token = signSas(resource, keyOf(hub, 'events'), 'utf8', now / 1000 + seconds, 'events');
      if (token.length === length) return token;
    }
  }

  const withToken = (bytes: Buffer): Buffer =>
    Buffer.from(
      bytes.toString('latin1').replace(/SharedAccessSignature x+/g, (filled) => tokenOf(filled.length)),
      'latin1',
    );

  /** Write what was recorded, each time after the frames that the client had got; its last words only at `leave`. */
  async function replay(name: string): Promise<{ client: RawClient; leave: () => Promise<unknown> }> {
    const client = await rawClient(hub);
    const steps = recorded.get(name) ?? [];
    const counts: Record<string, number> = {};
    for (const [index, { got, write }] of steps.entries()) {
      for (const kind of got) {
        counts[kind] = (counts[kind] ?? 0) + 1;
        await client.has(kind, counts[kind]);
      }
      if (index < steps.length - 1) client.send(withToken(write));
    }
    const words = steps.at(-1)?.write ?? Buffer.alloc(0);
    const farewell = beginningOf('detach', words);
    client.send(words.subarray(0, farewell));
    const leave = () => {
      client.send(words.subarray(farewell));
      return client.ended;
    };
    return { client, leave };
  }

  function beginningOf(kind: string, frames: Buffer): number {
    let at = 0;
    while (at < frames.length && frames[at + 10] !== codes[kind]) at += frames.readUInt32BE(at);
    return at;
  }

  const messagesIn = (frames: readonly RawFrame[]): Message[] =>
    frames.map(({ payload }) => rhea.message.decode(payload)) as unknown as Message[];
  const transfers = async (client: RawClient, count: number) => messagesIn(await client.has('transfer', count));
  const statusOf = ({ application_properties }: Message) => application_properties?.['status-code'];

  test('test_get_properties', async () => {
    const { client, leave } = await replay('test_get_properties');
    const [put, answer] = await transfers(client, 2);
    expect([put, answer].map((message) => message && statusOf(message))).toEqual([202, 200]);
    expect([put?.correlation_id, answer?.correlation_id]).toEqual([0, 0]);
    expect(answer?.body).toMatchObject({ name: 'sandbox-hub', partition_count: 2, partition_ids: ['0', '1'] });
    await leave();
  });
  test.each([
    ['test_receive_with_event_position_sync, offset', 'b'],
    ['test_receive_partition, track_last_enqueued_event_properties', 'ab'],
    ['test_receive_owner_level', 'ab'],
  ])('%s', async (name, bodies) => {
    await inject(hub, ['a', 'b']);
    const { client, leave } = await replay(name);
    await inject(hub, ['later']);
    const [, ...events] = await transfers(client, bodies.length + 2);
    expect(events.map(({ body }) => String(body.content))).toEqual([...bodies, 'later']);
    const last = events.at(-1)?.delivery_annotations?.['last_enqueued_sequence_number'];
    expect(last).toBe(name.includes('track_last') ? 2 : undefined);
    await leave();
    await expect.poll(() => hub.counters().connections.all).toBe(0);
  });
  test('test_receive_owner_level: another receiver loses the partition to it', async () => {
    await inject(hub, ['a', 'b']);
    const { client } = await replay('test_receive_with_event_position_sync, offset');
    const { leave } = await replay('test_receive_owner_level');
    const [lost] = await client.has('detach');
    expect(JSON.stringify(lost?.fields[2])).toContain('amqp:link:stolen');
    await leave();
  });
});
