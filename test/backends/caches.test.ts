import { expect, it, onTestFinished, vi } from 'vitest';
import { createMethodBackends } from '../../src/backends/methodBackends.ts';
import { createMeter } from '../../src/metrics/meter.ts';
import { observeBackends } from '../../src/operations/gauges.ts';
import { readingOf, recordingLog } from '../support/observed.ts';
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
