import { once } from 'node:events';
import { connect } from 'node:net';
import rhea from 'rhea';
import type { Hub } from '../../src/hub.ts';
import { keyOf } from './bare.ts';
import { createChanges } from './changes.ts';
import { compound } from './rawAmqp.ts';

/** A frame that the hub wrote: its fields as they are on the wire, null ones included. */
export type RawFrame = Readonly<{ channel: number; kind: string; fields: readonly RawValue[]; payload: Buffer }>;

export type RawValue = Readonly<{ value: unknown; descriptor?: { readonly value: number } }>;

const performatives = ['open', 'begin', 'attach', 'flow', 'transfer', 'disposition', 'detach', 'end', 'close'];
const kinds: Readonly<Record<number, string>> = {
  ...Object.fromEntries(performatives.map((kind, index) => [16 + index, kind])),
  ...{ 64: 'mechanisms', 68: 'outcome' },
};

export const codes: Readonly<Record<string, number>> = Object.fromEntries(
  Object.entries(kinds).map(([code, kind]) => [kind, Number(code)]),
);
const bytes = (...all: number[]): Buffer => Buffer.from(all);
const uint32 = (value: number): Buffer => {
  const written = Buffer.alloc(4);
  written.writeUInt32BE(value);
  return written;
};

export const nothing = bytes(0x40);
export const yes = bytes(0x41);
export const no = bytes(0x42);
export const uint = (value: number): Buffer => Buffer.concat([bytes(0x70), uint32(value)]);
const sized = (code: number, content: Buffer): Buffer => Buffer.concat([bytes(code), uint32(content.length), content]);
export const text = (value: string): Buffer => sized(0xb1, Buffer.from(value));
export const symbol = (value: string): Buffer => sized(0xb3, Buffer.from(value));
export const binary = (value: Buffer | string): Buffer => sized(0xb0, Buffer.from(value));
export const list = (...fields: Buffer[]): Buffer => compound(0xd0, fields.length, ...fields);
export const map = (...items: Buffer[]): Buffer => compound(0xd1, items.length, ...items);
export const described = (code: number, value: Buffer): Buffer => Buffer.concat([bytes(0, 0x53, code), value]);
export const source = (address: string): Buffer => described(0x28, list(text(address)));
export const target = (address: string): Buffer => described(0x29, list(text(address)));

export function frame(
  kind: string,
  fields: readonly Buffer[],
  payload: Uint8Array = Buffer.alloc(0),
  type = 0,
): Buffer {
  const content = Buffer.concat([described(codes[kind] ?? 0x41, list(...fields)), payload]);
  return Buffer.concat([uint32(content.length + 8), bytes(2, type, 0, 0), content]);
}

export const header = Buffer.from('AMQP\0\x01\0\0', 'latin1');
export const saslHeader = Buffer.from('AMQP\x03\x01\0\0', 'latin1');

/** SASL PLAIN of a policy with its key, which may listen to events. */
export const login = (policy: string, key: string): Buffer =>
  Buffer.concat([saslHeader, frame('init', [symbol('PLAIN'), binary(`\0${policy}\0${key}`)], undefined, 1)]);

/** Open a connection and begin a session. */
export const beginning = (incomingWindow = 5000): Buffer =>
  Buffer.concat([
    header,
    frame('open', [text('raw'), text('localhost')]),
    frame('begin', [nothing, uint(0), uint(incomingWindow), uint(100)]),
  ]);

export const attachReceiver = (name: string, handle: number, address: string): Buffer =>
  frame('attach', [text(name), uint(handle), yes, nothing, nothing, source(address), target('here')]);

export const flow = (handle: number, credit: number, incomingWindow = 5000, nextIncomingId = 0): Buffer =>
  frame('flow', [
    ...[uint(nextIncomingId), uint(incomingWindow), uint(0), uint(100)],
    ...[uint(handle), uint(0), uint(credit)],
  ]);

export const detach = (handle: number): Buffer => frame('detach', [uint(handle), yes]);

/** A client that writes what it is told, and only reads what the hub answers. */
export type RawClient = Awaited<ReturnType<typeof rawClient>>;

/** Connect to the hub in plain TCP. The connection ends with the hub. */
export async function rawClient(hub: Hub) {
  const socket = connect(hub.ports.amqp, '127.0.0.1').on('error', () => undefined);
  const ended = once(socket, 'close');
  const frames: RawFrame[] = [];
  const { changed, until } = createChanges();
  let rest = Buffer.alloc(0);
  socket.on('data', (chunk: Buffer) => {
    rest = Buffer.concat([rest, chunk]);
    for (let size = sizeOf(rest); size <= rest.length && rest.length >= 8; size = sizeOf(rest)) {
      if (rest[0] !== 0x41 && size > 8) frames.push(read(rest.subarray(0, size)));
      rest = rest.subarray(size);
    }
    changed();
  });
  await once(socket, 'connect');
  return {
    frames: frames as readonly RawFrame[],
    ended,
    send: (...parts: Buffer[]) => void socket.write(Buffer.concat(parts)),
    /** All frames of a kind, as soon as there are so many. */
    has(kind: string, count = 1): Promise<RawFrame[]> {
      const found = until(() => {
        const ofKind = frames.filter((each) => each.kind === kind);
        return ofKind.length < count ? undefined : ofKind;
      });
      const lost = ended.then(() => {
        throw new Error(`the hub wrote ${frames.map((each) => each.kind).join(', ')}`);
      });
      return Promise.race([found, lost]);
    },
  };
}

/** A client that has logged in as a policy and begun a session. */
export async function rawSession(hub: Hub, policy = 'events', incomingWindow?: number): Promise<RawClient> {
  const client = await rawClient(hub);
  client.send(login(policy, keyOf(hub, policy)));
  await client.has('outcome');
  client.send(beginning(incomingWindow));
  return client;
}

/** Of the protocol header or the frame at the beginning. */
const sizeOf = (buffer: Buffer): number => {
  if (buffer.length < 8) return 8;
  return buffer[0] === 0x41 ? 8 : buffer.readUInt32BE(0);
};

function read(whole: Buffer): RawFrame {
  const { Reader } = rhea.types as unknown as { Reader: new (from: Buffer) => { read(): RawValue; position: number } };
  const reader = new Reader(whole.subarray(8));
  const { descriptor, value } = reader.read();
  return {
    channel: whole.readUInt16BE(6),
    kind: kinds[Number(descriptor?.value)] ?? String(descriptor?.value),
    fields: value as RawValue[],
    payload: whole.subarray(8 + reader.position),
  };
}
