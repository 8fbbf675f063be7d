import { expect, it } from 'vitest';
import { startForAll } from '../../iot-hub-emulator/test/support/fixtures.ts';
import { prometheusNameOf } from '../../scripts/metricsPage.ts';
import { methodMetrics, metrics, namesIn } from '../../src/observing/metrics.ts';
import { failures } from '../../src/protocol/vocabulary.ts';
import { parseMetrics, sampleOf } from '../support/prom.ts';
import { methodDevice } from './support/methodDevice.ts';
import { conveyor, idle, startTestFrontDoor } from './support/testFrontDoor.ts';

// What an operator reads at /metrics of the front door.

const setup = startForAll(() => startTestFrontDoor({ settings: { BACKENDS_ATTEMPT_TIMEOUT_SECONDS: '2' } }));
const motor = startForAll(() => methodDevice(setup.hub, 'motor-1'));

const served = async () => (await fetch(`http://127.0.0.1:${setup.instance.healthPort}/metrics`)).text();
const samples = async () => parseMetrics(await served());
const count = 'http_server_request_duration_count';

it('the metrics have the invocations by status and reason, and those in progress', async () => {
  const calling = setup.call(conveyor, 'stop');
  const call = await motor.next();
  expect(sampleOf(await samples(), 'http_server_active_requests')).toBe(1);
  call.respond(200, { status: 3 });
  expect((await calling).status).toBe(200);
  expect((await setup.call(idle, 'stop')).status).toBe(503);
  expect((await setup.call(conveyor, 'stop', {}, { token: setup.tokens.stranger })).status).toBe(404);
  await expect.poll(async () => sampleOf(await samples(), 'http_server_active_requests')).toBe(0);
  const after = await samples();
  expect(sampleOf(after, count)).toBe(3);
  const well = after.filter(({ name, labels }) => name === count && !('error_type' in labels));
  expect(well).toMatchObject([{ labels: { http_response_status_code: '200' }, value: 1 }]);
  const offline = { http_response_status_code: '503', error_type: 'device_offline' };
  expect(sampleOf(after, count, offline)).toBe(1);
  expect(sampleOf(after, count, { http_response_status_code: '404', error_type: 'object_not_found' })).toBe(1);
});

it('the metrics say that no backend refuses the front door when one refuses the token of a caller', async () => {
  expect((await setup.call(conveyor, 'stop', {}, { token: setup.tokens.expired })).status).toBe(401);
  const after = await samples();
  expect(sampleOf(after, requests, { http_response_status_code: '401' })).toBeGreaterThan(0);
  const refused = after.filter(({ name }) => name === 'device_messaging_backend_access_refused');
  expect(refused.map(({ value }) => value)).toEqual([0, 0, 0]);
});

it('the metrics say whether it is ready', async () => {
  const readyz = `http://127.0.0.1:${setup.instance.healthPort}/readyz`;
  await expect.poll(async () => (await fetch(readyz)).status).toBe(200);
  expect(sampleOf(await samples(), 'device_messaging_ready')).toBe(1);
  setup.hub.faults.add({ kind: 'method', answer: 'refuse', errorCode: 401002 });
  expect((await setup.call(conveyor, 'stop')).status).toBe(503);
  setup.hub.faults.clear();
  expect((await fetch(readyz)).status).toBe(503);
  expect(sampleOf(await samples(), 'device_messaging_ready')).toBe(0);
  await expect.poll(async () => (await fetch(readyz)).status, { timeout: 60_000 }).toBe(200);
});

it('the metrics have the requests to the type registry', async () => {
  const types = { device_messaging_backend: 'typeRegistry', device_messaging_operation: 'read type definition' };
  expect(sampleOf(await samples(), 'http_client_request_duration_count', types)).toBeGreaterThan(0);
  const looked = { device_messaging_cache: 'types' };
  expect(sampleOf(await samples(), 'device_messaging_cache_lookups_total', looked)).toBeGreaterThan(0);
});

const reads = { device_messaging_operation: 'read object model', device_messaging_backend: 'informationModel' };
const requests = 'http_client_request_duration_count';
const calls = 'rpc_client_call_duration_count';
const read = async (name: string, labels = {}) => sampleOf(await samples(), name, labels) ?? 0;

it('the metrics have the reads of objects with the tokens of callers, by their outcome', async () => {
  const read200 = { ...reads, http_response_status_code: '200' };
  const refused = { ...reads, http_response_status_code: '404' };
  const [before, refusedBefore] = [await read(requests, read200), await read(requests, refused)];
  expect((await setup.call(conveyor, 'stop', {}, { token: setup.tokens.stranger })).status).toBe(404);
  expect(await read(requests, refused)).toBe(refusedBefore + 1);
  expect((await setup.call(idle, 'stop')).status).toBe(503);
  expect(await read(requests, read200)).toBe(before + 1);
  setup.backends.faults.add({ backend: 'informationModel', times: 1, reset: 'before' });
  expect((await setup.call(idle, 'stop')).status).toBe(503);
  expect(await read(requests, { ...reads, error_type: 'connection lost' })).toBe(1);
  expect(await read(requests, read200)).toBe(before + 1);
});

it('the metrics have the calls to the hub, by their outcome', async () => {
  const responded = { rpc_response_status_code: '200' };
  const offline = { error_type: 'device_offline', rpc_response_status_code: '404' };
  const [before, offlineBefore] = [await read(calls, responded), await read(calls, offline)];
  const calling = setup.call(conveyor, 'stop');
  (await motor.next()).respond(200, { status: 7 });
  expect((await calling).status).toBe(200);
  const refusing = setup.call(conveyor, 'stop');
  (await motor.next()).respond(503, { detail: 'not now' }); // a status that the device chooses
  expect((await refusing).status).toBe(503);
  expect(await read(calls, responded)).toBe(before + 2);
  expect((await setup.call(idle, 'stop')).status).toBe(503);
  expect(await read(calls, offline)).toBe(offlineBefore + 1);
  setup.hub.faults.add({ kind: 'method', answer: 'refuse', errorCode: 429001 });
  expect((await setup.call(conveyor, 'stop')).status).toBe(429);
  setup.hub.faults.clear();
  expect(await read(calls, { error_type: 'throttled', rpc_response_status_code: '429' })).toBe(1);
  const after = await samples();
  const well = after.filter(({ name, labels }) => name === calls && !('error_type' in labels));
  expect(well).toMatchObject([{ labels: responded, value: before + 2 }]);
});

it('the metrics have the connections, the circuits and the cache of the backends', async () => {
  expect((await setup.call(idle, 'stop')).status).toBe(503); // looks up the type
  setup.backends.faults.add({ backend: 'informationModel', times: 1, hang: true });
  const hanging = setup.call(conveyor, 'stop');
  const used = { device_messaging_backend: 'informationModel', device_messaging_state: 'used' };
  await expect.poll(() => read('device_messaging_backend_connections', used)).toBe(1);
  const after = await samples();
  expect(after.filter(({ name }) => name === 'device_messaging_backend_out')).toMatchObject([
    { labels: { device_messaging_backend: 'informationModel' }, value: 0 },
    { labels: { device_messaging_backend: 'typeRegistry' }, value: 0 },
    { labels: { device_messaging_backend: 'tokenEndpoint' }, value: 0 },
  ]);
  expect(await read('device_messaging_cache_entries', { device_messaging_cache: 'types' })).toBeGreaterThan(0);
  expect((await hanging).status).toBe(503);
  expect(await read('device_messaging_backend_connections', used)).toBe(0);
  expect(await read(requests, { ...reads, error_type: 'no answer in time' })).toBe(1);
});

it('the metrics include every metric of the front door', async () => {
  const served = new Set((await samples()).map(({ name }) => name.replace(/_(bucket|count|sum)$/, '')));
  // Nobody has asked for a file here: those of stores are in the table of all metrics.
  const names = namesIn.methods.filter((name) => !name.startsWith('device_messaging.store.'));
  expect(names.map((name) => prometheusNameOf(name, metrics[name])).filter((name) => !served.has(name))).toEqual([]);
});

it('the metrics include no others, and no names of callers or devices', async () => {
  const text = await served();
  const own = namesIn.methods.map((name) => prometheusNameOf(name, metrics[name]));
  const further = parseMetrics(text).filter(
    ({ name }) => name !== 'target_info' && !own.includes(name.replace(/_(bucket|count|sum)$/, '')),
  );
  expect(further).toEqual([]);
  const secrets = [...Object.values(setup.tokens), setup.backends.token.clientSecret];
  for (const one of [...secrets, setup.objectIdOf(conveyor), 'motor-1', 'stop', 'control-room'])
    expect(text).not.toContain(one);
});

it('the metrics have every reason of a failure', () => {
  const [, { values }] = methodMetrics['http.server.request.duration'].attributes;
  expect(values).toEqual(['', ...Object.keys(failures), 'caller_gone']);
});
