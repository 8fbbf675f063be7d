import { readFileSync } from 'node:fs';
import rhea, { type Message } from 'rhea';
import { expect, test } from 'vitest';
import { signSas } from '../src/identity/sas.ts';
import { inject } from '../src/testing/inject.ts';
import { keyOf } from './support/bare.ts';
import { codes, type RawClient, type RawFrame, rawClient } from './support/rawClient.ts';
import { hubForEach } from './support/sharedHub.ts';

// What the official consumer for Python wrote, byte for byte but for the tokens, and what it must get. The cases have the
// names of its own suite; docs/clients.md maps them. It takes fields by their place: a frame that lacks some ends it.

const now = 1_795_700_000_000; // the recorded start position is before
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

/** Where the first frame of a kind begins. */
function beginningOf(kind: string, frames: Buffer): number {
  let at = 0;
  while (at < frames.length && frames[at + 10] !== codes[kind]) at += frames.readUInt32BE(at);
  return at;
}

const messagesIn = (frames: readonly RawFrame[]): Message[] =>
  frames.map(({ payload }) => rhea.message.decode(payload)) as unknown as Message[];
const transfers = async (client: RawClient, count: number) => messagesIn(await client.has('transfer', count));
const statusOf = ({ application_properties }: Message) => application_properties?.['status-code'];

test.each([
  ['test_get_properties', { name: 'sandbox-hub', partition_count: 2, partition_ids: ['0', '1'] }],
  ['test_get_partition_properties', { partition: '0', last_enqueued_sequence_number: 1, is_partition_empty: false }],
])('%s', async (name, properties) => {
  await inject(hub, ['a', 'b']);
  const { client, leave } = await replay(name);
  const [put, answer] = await transfers(client, 2);
  expect([put, answer].map((message) => message && statusOf(message))).toEqual([202, 200]);
  expect([put?.correlation_id, answer?.correlation_id]).toEqual([0, 0]);
  expect(answer?.body).toMatchObject(properties);
  await leave();
});

test.each([
  ['test_receive_partition', 'ab'],
  ['test_receive_with_event_position_sync, offset', 'b'],
  ['test_receive_with_event_position_sync, sequence, inclusive', 'b'],
  ['test_receive_with_event_position_sync, enqueued_time', 'ab'],
  ['test_receive_end_of_stream', ''],
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
  const { client } = await replay('test_receive_partition');
  const { leave } = await replay('test_receive_owner_level');
  const [lost] = await client.has('detach');
  expect(JSON.stringify(lost?.fields[2])).toContain('amqp:link:stolen');
  await leave();
});
