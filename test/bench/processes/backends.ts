import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { listening } from '../../../iot-hub-emulator/test/support/listening.ts';
import { answerParent } from './answerParent.ts';
import { typeId } from './messages.ts';

/**
 * The three backends as one process that answers as fast as it can: `/im`, `/tr`, `/pm`. It keeps no object models, only
 * what it takes to check every effect: each update of an object once, each object created once.
 */

export interface Effects {
  readonly updates: number;
  readonly creates: number;
  /** In words, a few of them. */
  readonly faults: readonly string[];
}

let delayMs = 0;
/** After so many updates all is refused. */
let mostUpdates = Number.POSITIVE_INFINITY;
let leastBytes = 1_000;
let calls = 0;
/** Versions that each object has been updated with. */
const versions = new Map<string, Set<number>>();
const created = new Set<string>();
const faults: string[] = [];
let updates = 0;

const fault = (what: string) => {
  if (faults.length < 5) faults.push(what);
};

type Answer = Readonly<{ status: number; text: string }>;

const notFound: Answer = {
  status: 404,
  text: '{"errors":[{"code":"404","title":"Not found","detail":"","id":"","meta":{}}]}',
};
const ok = (text: string): Answer => ({ status: 200, text });

const memberOf = (text: string, key: string): string => new RegExp(`"${key}":"?([^",}]*)`).exec(text)?.[1] ?? '';

/** The object model as the information model would answer it: the members that were sent, and those it adds. */
const stored = (objectId: string, version: number, device: string, body: string, related = ''): string => {
  const rest = body.slice(1).replace(/"objectId":"[^"]*",|"model":"[^"]*",|"version":\d+,/g, '');
  return `{"objectId":"${objectId}","model":"svc.device","version":${version},"ownerId":"p-${device}","path":"${device}","relatedModels":[${related}],${rest}`;
};

/** The result of the model that is created together with each object, and that model. */
const related = '{"model":"svc.configuration","success":true,"code":"ok","details":"","created":true}';
const settings = JSON.stringify({ properties: { intervalSeconds: 60, unit: 'C', note: 'x'.repeat(200) } }).slice(1);
const configuration = (objectId: string, device: string): string =>
  `{"objectId":"${objectId}","model":"svc.configuration","type":"${typeId}.settings@1.0.0","version":1,"ownerId":"p-${device}","path":"${device}",${settings}`;

function replace(objectId: string, device: string, body: string): Answer {
  const version = Number(memberOf(body, 'version'));
  const seen = versions.get(objectId) ?? new Set();
  versions.set(objectId, seen);
  if (seen.has(version)) fault(`${objectId} was updated twice from version ${version}`);
  if (body.length < leastBytes) fault(`a body of ${body.length} bytes`);
  seen.add(version);
  updates += 1;
  return ok(stored(objectId, version + 1, device, body));
}

function create(device: string, body: string): Answer {
  const serial = memberOf(body, 'serial');
  if (created.has(serial)) fault(`${serial} was created twice`);
  created.add(serial);
  return { status: 201, text: stored(memberOf(body, 'objectId'), 1, device, body, related) };
}

function answer(method: string, path: string, device: string, body: string): Answer {
  if (method === 'PUT' && path.startsWith('/im/objects/')) return replace(path.slice(12, 48), device, body);
  if (method === 'POST' && path === '/im/query') return ok('{"data":[]}');
  if (method === 'POST' && path.startsWith('/im/object')) return create(device, body);
  if (method === 'POST' && path === '/echo') return ok(body);
  if (path.startsWith('/pm/devices?'))
    return ok(`{"data":[{"id":"p-${device}","identity":"${device}","path":"${device}","parentId":null}]}`);
  if (path.startsWith('/tr/')) {
    return ok(
      `{"typeId":"${typeId}","version":"1.0.0","model":"svc.device","unique":["serial"],"uniqueProperties":["serial"]}`,
    );
  }
  if (path.endsWith('/models/svc.configuration')) return ok(configuration(path.slice(12, 48), device));
  return notFound; // the probe's target
}

async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk);
  const { method = '', url = '', headers } = request;
  const device = String(headers['x-svc-device-id'] ?? '');
  calls += 1;
  if (delayMs > 0) await sleep(delayMs);
  if (updates >= mostUpdates) {
    response.writeHead(503).end();
    return;
  }
  const { status, text } = answer(method, url, device, Buffer.concat(chunks).toString());
  response.writeHead(status, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) });
  response.end(text);
}

const server = createServer((request, response) => void serve(request, response));
server.keepAliveTimeout = 600_000;
const { port } = await listening(server);
answerParent({
  delay(ms: number) {
    delayMs = ms;
  },
  /** Updates have small bodies, and after so many of them all is refused until this is called again. */
  outAfter(count: number) {
    leastBytes = 50;
    mostUpdates = count;
  },
  calls: () => calls,
  effects: (): Effects => ({ updates, creates: created.size, faults }),
});
process.send?.({ port });
