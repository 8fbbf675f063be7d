import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { ZodError, z } from 'zod';
import type { Devicebound } from './cloudToDevice/deviceQueues.ts';
import type { Counters } from './core/counters.ts';
import type { PartitionLog } from './events/partitionLog.ts';
import type { Faults } from './faults/faults.ts';
import { faultKinds } from './faults/kinds.ts';
import type { Device, Registry } from './identity/registry.ts';
import type { Journal, JournalEntry } from './journal/journal.ts';
import { Refusal } from './values/refusal.ts';

/** What the admin port shows and changes. */
export interface AdminHub {
  /** Host, ports and so on: the answer to GET /. */
  describe: () => Record<string, unknown>;
  registry: Registry;
  devicebound: Devicebound;
  journal: Journal;
  partitions: readonly PartitionLog[];
  faults: Faults;
  counters: () => Counters;
  isConnected: (deviceId: string) => boolean;
  deviceConnectionString: (deviceId: string) => string;
}

interface Answer {
  status: number;
  body?: unknown;
}

const maxBody = 64 * 1024;
const statusOf: Readonly<Record<string, number>> = {
  'amqp:not-found': 404,
  'com.microsoft:device-already-exists': 409,
};
const routes = {
  'GET /': 'what is here',
  'GET /devices': 'the devices, without their keys',
  'POST /devices': '{deviceId, primaryKey?}: add a device; answers its key and connection string',
  'DELETE /devices/{id}': 'remove a device',
  'GET /journal?since={index}&deviceId={id}&kind={kind}': 'what was received and sent after that index',
  'GET /partitions': 'the partitions: how far they reach',
  'GET /counters': 'connections, links, credit, events, queues, in numbers',
  'GET /faults': 'the faults that stand',
  'GET /faults/kinds': 'the kinds of faults and their fields',
  'POST /faults': '{kind, …}: let a fault stand (answers its id), or happen now (answers how much it struck)',
  'DELETE /faults/{id}': 'end a fault',
  'DELETE /faults': 'end all faults',
};

/** The hub's admin interface over HTTP; JSON in and out, errors as {error: sentence}. Not listening yet. */
export function createAdmin(hub: AdminHub): Server {
  const server = createServer((request, response) => {
    answer(hub, request).then(
      ({ status, body }) => reply(response, status, body),
      (error: unknown) => {
        const { status, sentence } = explain(error);
        reply(response, status, { error: sentence });
      },
    );
  });
  server.keepAliveTimeout = 1000;
  return server;
}

async function answer(hub: AdminHub, request: IncomingMessage): Promise<Answer> {
  // a web page must not reach this port: neither by a cross-origin request nor under a host name of its own
  const host = (request.headers.host ?? '').replace(/:\d+$/, '');
  if (request.headers.origin !== undefined || !['localhost', '127.0.0.1', '[::1]'].includes(host))
    return { status: 403, body: { error: 'Only local clients that are no web page may ask.' } };
  const url = new URL(request.url ?? '/', 'http://localhost');
  const [collection = '', id, ...rest] = url.pathname.slice(1).split('/');
  const route = `${request.method} /${collection}${id === undefined ? '' : '/{id}'}${rest.length > 0 ? '/…' : ''}`;
  switch (route) {
    case 'GET /':
      return { status: 200, body: { ...hub.describe(), routes } };
    case 'GET /devices':
      return { status: 200, body: { devices: hub.registry.list().map((device) => show(hub, device)) } };
    case 'POST /devices':
      return create(hub, await readJson(request));
    case 'DELETE /devices/{id}':
      if (!hub.registry.delete(decode(id ?? ''))) throw new Refusal('amqp:not-found', 'There is no device of this id.');
      return { status: 204 };
    case 'GET /journal':
      return { status: 200, body: { entries: hub.journal.list(filter(url.searchParams)).map(printable) } };
    case 'GET /partitions':
      return { status: 200, body: { partitions: hub.partitions.map(describePartition) } };
    case 'GET /counters':
      return { status: 200, body: hub.counters() };
    case 'GET /faults':
      return { status: 200, body: { faults: hub.faults.list() } };
    case 'GET /faults/{id}':
      if (id !== 'kinds') throw new Refusal('amqp:not-found', 'Only GET /faults and GET /faults/kinds are there.');
      return { status: 200, body: { kinds: faultKinds() } };
    case 'POST /faults':
      return addFault(hub, await readJson(request));
    case 'DELETE /faults':
      return { status: 200, body: { ended: hub.faults.clear() } };
    case 'DELETE /faults/{id}':
      if (hub.faults.clear(decode(id ?? '')) === 0) throw new Refusal('amqp:not-found', 'No fault of this id stands.');
      return { status: 204 };
    default:
      throw new Refusal('amqp:not-found', `There is no ${route}. GET / lists what there is.`);
  }
}

function explain(error: unknown): { status: number; sentence: string } {
  if (error instanceof Refusal) return { status: statusOf[error.condition] ?? 400, sentence: error.message };
  if (error instanceof ZodError) return { status: 400, sentence: `That is no fault: ${z.prettifyError(error)}` };
  return { status: 500, sentence: 'The hub failed to answer this request.' };
}

async function addFault(hub: AdminHub, asked: unknown): Promise<Answer> {
  const answer = await hub.faults.ask(asked);
  return { status: 'id' in answer ? 201 : 200, body: answer };
}

function create(hub: AdminHub, asked: unknown): Answer {
  const { deviceId, primaryKey } = (asked ?? {}) as { deviceId?: unknown; primaryKey?: unknown };
  if (typeof deviceId !== 'string' || (primaryKey !== undefined && typeof primaryKey !== 'string'))
    throw new Refusal(
      'com.microsoft:argument-error',
      'The body is {"deviceId": text, "primaryKey": base64 text or none}.',
    );
  const device = hub.registry.create(deviceId, { primaryKey });
  const connectionString = hub.deviceConnectionString(deviceId);
  return { status: 201, body: { ...show(hub, device), primaryKey: device.primaryKey, connectionString } };
}

function show(hub: AdminHub, { deviceId, generationId, createdAt }: Device): Record<string, unknown> {
  const pending = hub.devicebound.pending(deviceId).length;
  return { deviceId, generationId, createdAt, connected: hub.isConnected(deviceId), pending };
}

function filter(query: URLSearchParams): NonNullable<Parameters<Journal['list']>[0]> {
  const [since, deviceId, kind] = ['since', 'deviceId', 'kind'].map((name) => query.get(name));
  if (since && !/^-?\d{1,15}$/.test(since))
    throw new Refusal('com.microsoft:argument-error', '`since` is the index of a journal entry.');
  return {
    ...(since ? { since: Number(since) } : {}),
    ...(deviceId ? { deviceId } : {}),
    ...(kind ? { kind: kind as JournalEntry['kind'] } : {}),
  };
}

/** A journal entry with its body as base64, and as text where it is UTF-8. */
function printable(entry: JournalEntry): Record<string, unknown> {
  if (!('body' in entry)) return entry;
  const { body, ...rest } = entry;
  const text = body.toString('utf8');
  return { ...rest, body: body.toString('base64'), ...(Buffer.from(text).equals(body) ? { text } : {}) };
}

function describePartition(log: PartitionLog): Record<string, unknown> {
  const last = log.last();
  return {
    id: String(log.id),
    firstSequenceNumber: log.first(),
    nextSequenceNumber: log.next(),
    ...(last ? { lastOffset: String(last.offset), lastEnqueuedTime: new Date(last.enqueuedTime).toISOString() } : {}),
  };
}

async function readJson(request: IncomingMessage): Promise<unknown> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > maxBody) throw new Refusal('com.microsoft:argument-error', 'The body is larger than 64 KB.');
    chunks.push(chunk);
  }
  try {
    return JSON.parse(Buffer.concat(chunks).toString('utf8'));
  } catch {
    throw new Refusal('com.microsoft:argument-error', 'The body is not JSON.');
  }
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

function reply(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, body === undefined ? {} : { 'content-type': 'application/json' });
  response.end(body === undefined ? undefined : `${JSON.stringify(body, undefined, 2)}\n`);
}
