import { expect, it, onTestFinished, vi } from 'vitest';
import { observeBackends } from '../../src/backends/backend.ts';
import { createBackends, createMethodBackends } from '../../src/backends/backends.ts';
import { createDeadline } from '../../src/backends/deadline.ts';
import { TransportFailure } from '../../src/backends/transport.ts';
import { createMeter } from '../../src/observing/metrics.ts';
import { silence } from '../hub/support/replying.ts';
import { courseOf, readingOf, recordingLog } from '../support/observed.ts';
import { withFakeTimers } from '../support/waiting.ts';
import { callOf, scripted, serve, settings } from './harness.ts';

withFakeTimers();

const readType = {
  call: 'GET /modelDefinitions/svc.device/types/pump',
  reply: [200, { typeId: 'pump', version: '1.0.0' }],
} as const;
const readIdentity = (path: string) =>
  ({
    call: `GET /devices?device=d1${path && `&path=${path}`}`,
    reply: [200, { data: [{ id: 'p1', identity: 'd1', path: 'd1', parentId: null }] }],
  }) as const;

it('each cache keeps its answers for BACKENDS_CACHE_SECONDS, and is counted by its own name', async () => {
  const meter = createMeter();
  const first = [readType, readIdentity(''), readIdentity('edge')];
  const { backends } = scripted([...first, ...first], { cacheSeconds: 7 }, meter);
  observeBackends(meter, backends.states);
  async function ask() {
    const { typeRegistry, principalManager } = backends.bind(callOf());
    await typeRegistry.getType('svc.device', 'pump', undefined);
    for (const owner of ['', 'edge']) await principalManager.resolve(owner);
    return readingOf(meter, 'device_messaging.cache.lookups');
  }
  expect(await ask()).toEqual({ 'types miss': 1, 'identities miss': 2 });
  await vi.advanceTimersByTimeAsync(6_999);
  expect(await ask()).toEqual({ 'types miss': 1, 'identities miss': 2, 'types hit': 1, 'identities hit': 2 });
  await vi.advanceTimersByTimeAsync(1);
  expect(await ask()).toEqual({ 'types miss': 2, 'identities miss': 4, 'types hit': 1, 'identities hit': 2 });
  expect(readingOf(meter, 'device_messaging.cache.entries')).toEqual({ types: 1, identities: 2 });
});

it('the cache of the front door keeps types for BACKENDS_CACHE_SECONDS, and is counted as that of types', async () => {
  vi.useFakeTimers({ toFake: ['performance'] }); // the requests go over the network
  const typeRegistryUrl = await serve((_, response) => void response.end('{"methods":{"stop":{}}}'));
  const meter = createMeter();
  const given = { ...settings, typeRegistryUrl, cacheSeconds: 7 };
  const backends = createMethodBackends(given, recordingLog(), { secrets: [], meter });
  onTestFinished(() => backends.close());
  async function ask() {
    await backends.lineageOf(callOf(), 'svc.device', { typeId: 'pump', version: undefined });
    return readingOf(meter, 'device_messaging.cache.lookups');
  }
  expect(await ask()).toEqual({ 'types miss': 1 });
  vi.advanceTimersByTime(6_999);
  expect(await ask()).toEqual({ 'types miss': 1, 'types hit': 1 });
  vi.advanceTimersByTime(1);
  expect(await ask()).toEqual({ 'types miss': 2, 'types hit': 1 });
});

it('the front door reads objects as the caller and types as itself, and operators see both backends', async () => {
  const seen: string[] = [];
  const serveAs = (name: string, status: number, answer: object) =>
    serve((request, response) => {
      seen.push(`${name}: ${request.url} ${request.headers.authorization}`);
      response.writeHead(status).end(JSON.stringify(answer));
    });
  const informationModelUrl = await serveAs('information model', 403, {});
  const typeRegistryUrl = await serveAs('type registry', 200, { methods: { stop: {} } });
  const ofIdentity = {
    scope: 's',
    getToken: async () => ({ token: 'of-identity', expiresOnTimestamp: Date.now() + 3_600_000 }),
  };
  const backend = (name: string) => (name === 'typeRegistry' ? ofIdentity : undefined);
  const access = { backend, token: () => settings.token, clientSecret: () => '' };
  const meter = createMeter();
  const given = { ...settings, informationModelUrl, typeRegistryUrl };
  const backends = createMethodBackends(given, recordingLog(), { secrets: ['own-secret'], meter, access });
  onTestFinished(() => backends.close());

  const caller = { token: 'of-caller', isKnown: true, correlationId: 'c', observation: courseOf() };
  const refused = await backends.readObject('o1', 'svc.device', { ...caller, deadline: createDeadline(10) });
  expect(refused).toEqual({ kind: 'refused', status: 403 });
  const pump = { typeId: 'pump', version: undefined };
  expect(await backends.lineageOf(callOf(), 'svc.device', pump)).toMatchObject({ unknown: [] });
  expect(seen).toEqual([
    'information model: /objects/o1/models/svc.device Bearer of-caller',
    'type registry: /modelDefinitions/svc.device/types/pump Bearer of-identity',
  ]);
  const expected = { 'informationModel read object model GET 403': 1, 'typeRegistry read type definition GET 200': 1 };
  expect(readingOf(meter, 'http.client.request.duration')).toEqual(expected);
  expect(backends.states()).toMatchObject({
    informationModel: { circuit: 'closed' },
    typeRegistry: { circuit: 'closed', cacheEntries: 1 },
    tokenEndpoint: { circuit: 'closed' },
  });
});

const principal = { data: [{ id: 'p', identity: 'i', path: 'd1' }] };

it('operators see the state of each backend separately', async () => {
  const backends = createBackends({ ...settings, connections: 5, circuitFailures: 1 }, silence, {
    async adapter(config) {
      const path = config.url ?? '';
      if (path.startsWith('/modelDefinitions/refused')) throw new TransportFailure('connection refused', false);
      if (!path.includes('known')) return new Promise(() => {});
      const answer = path.startsWith('/devices') ? principal : { typeId: 't', version: '1.0.0' };
      return { status: 200, statusText: '', headers: {}, data: Buffer.from(JSON.stringify(answer)), config };
    },
  });
  onTestFinished(() => backends.close());
  const { informationModel, typeRegistry, principalManager } = backends.bind(callOf({ deadline: createDeadline(900) }));
  const ask = (count: number, work: (name: string) => Promise<unknown>) => {
    for (let index = 0; index < count; index += 1) void work(String(index)).catch(() => undefined);
    return vi.advanceTimersByTimeAsync(0);
  };
  await ask(7, (name) => informationModel.getModel(name, 'm'));
  await ask(4, (name) => typeRegistry.getType('m', `known-${name}`, '1.0.0'));
  await ask(6, (name) => principalManager.resolve(`known-${name}`));
  await ask(8, (name) => principalManager.updateIdentity(name, '{}'));
  await ask(3, (name) => typeRegistry.createType(name, '{}'));
  const since = performance.now();
  await ask(1, () => typeRegistry.getType('refused', 't', '1.0.0'));
  expect(backends.states()).toEqual({
    informationModel: {
      ...{ circuit: 'closed', outage: undefined, connections: { inUse: 5, waiting: 2 }, oldestMs: 0 },
      cacheEntries: undefined,
    },
    typeRegistry: {
      ...{ circuit: 'open', outage: { since, failure: 'connection refused' } },
      ...{ connections: { inUse: 3, waiting: 0 }, oldestMs: 0, cacheEntries: 5 },
    },
    principalManager: {
      ...{ circuit: 'closed', outage: undefined, connections: { inUse: 5, waiting: 3 }, oldestMs: 0 },
      cacheEntries: 6,
    },
  });
  expect(backends.waiting()).toBe(5);
  await backends.close();
});
