import { afterAll, beforeAll, expect, it } from 'vitest';
import { prometheusNameOf } from '../../scripts/metricsPage.ts';
import { failures } from '../../src/methods/failure.ts';
import { methodMetrics } from '../../src/metrics/declared/methods.ts';
import { declarationOf, namesIn } from '../../src/metrics/metrics.ts';
import { parseMetrics, sampleOf } from '../support/promText.ts';
import { type MethodDevice, methodDevice } from './support/methodDevice.ts';
import { conveyor, idle, startTestFrontDoor, type TestFrontDoor } from './support/testFrontDoor.ts';

// What an operator reads at /metrics of the front door.

let setup: TestFrontDoor;
let motor: MethodDevice;
beforeAll(async () => {
  setup = await startTestFrontDoor();
  motor = await methodDevice(setup.hub, 'motor-1');
});
afterAll(async () => {
  await motor?.close();
  await setup?.close();
});

const served = async () => (await fetch(`http://127.0.0.1:${setup.instance.healthPort}/metrics`)).text();
const samples = async () => parseMetrics(await served());
const count = 'http_server_request_duration_count';

it('has the invocations by status and reason, and those in progress', async () => {
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

it('has the requests to the type registry', async () => {
  const types = { device_messaging_backend: 'typeRegistry', device_messaging_operation: 'read type definition' };
  expect(sampleOf(await samples(), 'http_client_request_duration_count', types)).toBeGreaterThan(0);
  const looked = { device_messaging_cache: 'types' };
  expect(sampleOf(await samples(), 'device_messaging_cache_lookups_total', looked)).toBeGreaterThan(0);
});

it('has no other metrics than its own, and nothing that callers or devices are called', async () => {
  const text = await served();
  const own = namesIn.methods.map((name) => prometheusNameOf(name, declarationOf(name)));
  const further = parseMetrics(text).filter(
    ({ name }) => name !== 'target_info' && !own.includes(name.replace(/_(bucket|count|sum)$/, '')),
  );
  expect(further).toEqual([]);
  const secrets = [...Object.values(setup.tokens), setup.backends.token.clientSecret];
  for (const one of [...secrets, setup.objectIdOf(conveyor), 'motor-1', 'stop', 'control-room']) {
    expect(text).not.toContain(one);
  }
});

it('knows every reason of a failure', () => {
  const [, { values }] = methodMetrics['http.server.request.duration'].attributes;
  expect(values).toEqual(['', ...Object.keys(failures), 'caller_gone']);
});
