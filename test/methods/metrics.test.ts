import { expect, it } from 'vitest';
import { startForAll } from '../../iot-hub-emulator/test/support/fixtures.ts';
import { prometheusNameOf } from '../../scripts/metricsPage.ts';
import { methodMetrics, metrics, namesIn } from '../../src/observing/metrics.ts';
import { failures } from '../../src/protocol/vocabulary.ts';
import { parseMetrics, sampleOf } from '../support/prom.ts';
import { methodDevice } from './support/methodDevice.ts';
import { conveyor, idle, startTestFrontDoor } from './support/testFrontDoor.ts';

// What an operator reads at /metrics of the front door; the numbers are in the table of all metrics.

const setup = startForAll(() => startTestFrontDoor({ settings: { BACKENDS_ATTEMPT_TIMEOUT_SECONDS: '2' } }));
const motor = startForAll(() => methodDevice(setup.hub, 'motor-1'));

const served = async () => (await fetch(`http://127.0.0.1:${setup.instance.healthPort}/metrics`)).text();
const samples = async () => parseMetrics(await served());

it('the metrics have the invocations in progress', async () => {
  const calling = setup.call(conveyor, 'stop');
  const call = await motor.next();
  expect(sampleOf(await samples(), 'http_server_active_requests')).toBe(1);
  call.respond(200, { status: 3 });
  expect((await calling).status).toBe(200);
  expect((await setup.call(idle, 'stop')).status).toBe(503);
  await expect.poll(async () => sampleOf(await samples(), 'http_server_active_requests')).toBe(0);
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

it('the metrics are exactly those of the front door', async () => {
  const found = new Set((await samples()).map(({ name }) => name.replace(/_(bucket|count|sum)$/, '')));
  // Nobody has asked for a file here: those of stores are in the table of all metrics.
  const names = namesIn.methods.filter((name) => !name.startsWith('device_messaging.store.'));
  const declared = names.map((name) => prometheusNameOf(name, metrics[name]));
  expect([...found].toSorted()).toEqual(['target_info', ...declared].toSorted());
});

it('the metrics have no secret, and no names of callers or devices', async () => {
  const text = await served();
  const secrets = [...Object.values(setup.tokens), setup.backends.token.clientSecret];
  for (const one of [...secrets, setup.objectIdOf(conveyor), 'motor-1', 'stop', 'control-room'])
    expect(text).not.toContain(one);
});

it('the metrics have every reason of a failure', () => {
  const [, { values }] = methodMetrics['http.server.request.duration'].attributes;
  expect(values).toEqual(['', ...Object.keys(failures), 'caller_gone']);
});
