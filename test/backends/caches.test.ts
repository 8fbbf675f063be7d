import { expect, it, onTestFinished, vi } from 'vitest';
import { createMethodBackends } from '../../src/backends/backends.ts';
import { createDeadline } from '../../src/backends/deadline.ts';
import { createMeter } from '../../src/metrics/meter.ts';
import { observeBackends } from '../../src/operations/backendGauges.ts';
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
  const backends = createMethodBackends(given, recordingLog(), [], () => ({}), meter);
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
  const backends = createMethodBackends(given, recordingLog(), ['own-secret'], () => ({}), meter, access);
  onTestFinished(() => backends.close());

  const caller = { token: 'of-caller', isKnown: true, correlationId: 'c', course: courseOf() };
  const refused = await backends.readObject('o1', 'svc.device', { ...caller, deadline: createDeadline(10) });
  expect(refused).toEqual({ kind: 'refused', status: 403 });
  const pump = { typeId: 'pump', version: undefined };
  expect(await backends.lineageOf(callOf(), 'svc.device', pump)).toMatchObject({ unknown: [] });
  expect(seen).toEqual([
    'information model: /objects/o1/models/svc.device Bearer of-caller',
    'type registry: /modelDefinitions/svc.device/types/pump Bearer of-identity',
  ]);
  expect(readingOf(meter, 'http.client.request.duration')).toEqual({
    'informationModel read object model GET 403': 1,
    'typeRegistry read type definition GET 200': 1,
  });
  expect(backends.states()).toMatchObject({
    informationModel: { circuit: 'closed' },
    typeRegistry: { circuit: 'closed', cacheEntries: 1 },
    tokenEndpoint: { circuit: 'closed' },
  });
});
