import { once } from 'node:events';
import { createServer, request as send } from 'node:http';
import type { Given } from '../../backend-kit/kit.ts';
import { type Outcome, runKit } from '../../backend-kit/run.ts';
import { listening } from '../../iot-hub-emulator/test/support/listening.ts';
import { type Backends, startBackends } from '../../sandbox/backends/backends.ts';
import type { World } from '../../sandbox/backends/world/world.ts';

/** A call on its way to a reference backend. */
export interface Call {
  readonly method: string;
  /** With its query. */
  path: string;
  headers: Record<string, string | undefined>;
  body: string;
}

export interface Reply {
  /** 0: the connection breaks off. */
  status: number;
  headers: Record<string, string>;
  body: string;
}

/** What is wrong with the reference backends. */
export interface Fault {
  world?(world: World): void;
  /** Before the backend has the call; a reply is sent in its place. */
  request?(call: Call, token: string): Partial<Reply> | undefined;
  answer?(reply: Reply, call: Call): void;
}

/** Stands before a backend. */
async function stand(url: string, { request, answer }: Fault, token: string) {
  const server = createServer(async (incoming, outgoing) => {
    const pieces: Buffer[] = [];
    for await (const piece of incoming) pieces.push(piece);
    const headers = { ...(incoming.headers as Call['headers']) };
    const call: Call = {
      method: incoming.method ?? '',
      path: incoming.url ?? '',
      headers,
      body: Buffer.concat(pieces).toString(),
    };
    const early = request?.(call, token);
    const reply: Reply = early
      ? { status: 200, headers: { 'content-type': 'application/json' }, body: '{}', ...early }
      : await forward(url, call);
    answer?.(reply, call);
    const { 'content-length': _, 'transfer-encoding': _chunked, ...answered } = reply.headers;
    if (reply.status === 0) return void outgoing.destroy();
    outgoing.writeHead(reply.status, answered);
    outgoing.end(reply.body);
  });
  const { port, close } = await listening(server);
  return { url: `http://127.0.0.1:${port}`, close };
}

async function forward(url: string, { method, path, headers, body }: Call): Promise<Reply> {
  const { hostname, port } = new URL(url);
  const { 'content-length': _, 'transfer-encoding': _chunked, connection: _connection, ...passed } = headers;
  const length = body === '' ? {} : { 'content-length': Buffer.byteLength(body) };
  const call = send({ hostname, port, method, path, headers: { ...JSON.parse(JSON.stringify(passed)), ...length } });
  call.end(body);
  const [response] = await once(call, 'response');
  const pieces: Buffer[] = [];
  for await (const piece of response) pieces.push(piece);
  const { connection: _kept, ...answered } = response.headers;
  return { status: response.statusCode, headers: answered, body: Buffer.concat(pieces).toString() };
}

/** All that the kit can be given of the example world. */
export async function givenBy(backends: Backends): Promise<{ readonly given: Given; readonly token: string }> {
  const { applications, world, token: endpoint } = backends;
  const form = { grant_type: 'client_credentials', client_id: endpoint.clientId, client_secret: endpoint.clientSecret };
  const response = await fetch(endpoint.url, { method: 'POST', body: new URLSearchParams(form) });
  const { access_token: token } = (await response.json()) as { readonly access_token: string };
  const issue = (mayInvoke: boolean) => applications.issue({ name: 'kit', tenant: 'acme', mayInvoke }, 600);
  const given = {
    'information-model': backends.informationModelUrl,
    'type-registry': backends.typeRegistryUrl,
    'principal-manager': backends.principalManagerUrl,
    ...{ device: 'gateway-1', 'other-device': 'pump-2', 'other-tenant-device': 'rival-1' },
    'expendable-identity': 'edge/sensor-1',
    'unclaimed-object': world.objects.list().find(({ owner }) => owner === undefined)?.objectId,
    ...{ 'caller-token': issue(true), 'reader-token': issue(false) },
  };
  return { given, token };
}

/** Runs the kit against the reference backends with a fault. @param only how the ids of the rules begin */
export async function runWith(fault: Fault, only = ''): Promise<Outcome> {
  const backends = await startBackends({ seed: true });
  const { given, token } = await givenBy(backends);
  fault.world?.(backends.world);
  const [im, tr, pm] = await Promise.all(
    [backends.informationModelUrl, backends.typeRegistryUrl, backends.principalManagerUrl].map((url) =>
      stand(url, fault, token),
    ),
  );
  const urls = { 'information-model': im?.url, 'type-registry': tr?.url, 'principal-manager': pm?.url };
  try {
    return await runKit({ given: { ...given, ...urls }, token, only: [only] });
  } finally {
    for (const front of [im, tr, pm]) front?.close();
    await backends.close();
  }
}

export const broken = ({ results }: Outcome): string[] =>
  results.filter(({ outcome }) => outcome === 'broken').map(({ rule }) => rule.id);

/** What a person needs of the rules that do not hold, or were not tried. */
export const notHolding = ({ results }: Outcome): string[] =>
  results.flatMap(({ rule, outcome, why }) => (outcome === 'holds' ? [] : [`${rule.id} ${outcome}: ${why}`]));
