import { readFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { expect, it } from 'vitest';
import { failures } from '../../edge/src/hub/invocation.ts';
import { edgeMetrics, metrics } from '../../edge/src/observing/metrics.ts';
import { startForAll } from '../../iot-hub-emulator/test/support/fixtures.ts';
import { prometheusNameOf } from '../../scripts/metricsPage.ts';
import { parseMetrics, sampleOf } from '../support/prom.ts';
import { type FileServer, startFileServer } from './support/fileServer.ts';
import { busObject, startTestEdge } from './support/testEdge.ts';

// What an operator reads at /metrics of the edge proxy.

const server = startForAll(startFileServer);
const edge = startForAll(() => startTestEdge({ files: { hosts: [server.host], loopbackHttp: true } }));
const press = startForAll(() => edge.module('press'));

const { version } = JSON.parse(readFileSync('edge/package.json', 'utf8'));
const nobody = 'ffffffff-7f2b-4f0e-8d57-3b8f2f6c9e11';
const samples = async () => parseMetrics(await edge.metrics());
const read = async (name: string, labels: Readonly<Record<string, string>> = {}) =>
  sampleOf(await samples(), name, labels) ?? 0;
const invocations = 'rpc_server_call_duration_count';
const inProgress = 'device_messaging_edge_invocations';
const ofPress = { device_messaging_module: 'press' };

it('the metrics have the invocations by module, status and reason, and those in progress', async () => {
  const well = { ...ofPress, rpc_response_status_code: '200', rpc_method: 'invokeMethod' };
  const before = await read(invocations, well);
  const calling = edge.call({ method: 'configure' });
  const request = await press.next();
  expect(await read(inProgress)).toBe(1);
  request.reply(7);
  await calling;
  expect(await read(inProgress)).toBe(0);
  expect(await read(invocations, well)).toBe(before + 1);
  const malformed = edge.call();
  (await press.next()).reply('much');
  await malformed;
  expect(await read(invocations, { ...ofPress, rpc_response_status_code: '502', error_type: 'bad_reply' })).toBe(1);
  await edge.call({ objectId: nobody });
  await edge.call({ timeout: 1 });
  const own = (await samples()).filter(({ name }) => name === invocations);
  const without = own.filter(({ labels }) => !('device_messaging_module' in labels));
  const shown = without.map(({ labels, value }) => [labels['rpc_response_status_code'], labels['error_type'], value]);
  expect(shown.map((one) => one.join(' '))).toEqual(['404 no_module 1', '400 invalid_invocation 1']);
  expect(own.filter(({ labels }) => !('error_type' in labels))).toMatchObject([{ labels: well, value: before + 1 }]);
});

it('the metrics have the module that does not reply', async () => {
  const silent = edge.call({ timeout: 5 });
  const { requestId } = await press.next();
  await silent;
  expect(await read(invocations, { ...ofPress, rpc_response_status_code: '504', error_type: 'no_reply' })).toBe(1);
  press.publish(`press/out/0/${requestId}`, '');
  const dropped = { ...ofPress, device_messaging_reason: 'unknown' };
  await expect.poll(() => read('device_messaging_edge_replies_dropped_total', dropped)).toBe(1);
});

it('the metrics have the downloads of files by their outcome', async () => {
  const load = (image: ReturnType<FileServer['signed']>) =>
    edge.call({ method: 'load', input: { image: 'firmware.bin' }, files: { image } });
  const downloads = 'http_client_request_duration_count';
  const complete = load(server.signed('a', 'aa'));
  (await press.next()).reply(0);
  await complete;
  expect(await read(downloads, { http_response_status_code: '200' })).toBe(1);
  await load({ ...server.signed('b', 'bb'), etag: '"other"' });
  expect(await read(downloads, { http_response_status_code: '412', error_type: 'changed' })).toBe(1);
  await load({ ...server.signed('c', 'cc'), bytes: 3 });
  expect(await read(downloads, { http_response_status_code: '200', error_type: 'changed' })).toBe(1);
  server.behave((_, response) => void response.writeHead(500).end());
  await load(server.signed('d', 'dd'));
  expect(await read(downloads, { http_response_status_code: '500', error_type: 'status' })).toBe(1);
  server.behave((request) => void request.socket.destroy());
  await load(server.signed('e', 'ee'));
  expect(await read(downloads, { error_type: 'no_connection' })).toBe(1);
  expect(await read(invocations, { ...ofPress, error_type: 'file_not_downloaded' })).toBe(4);
  await rm(edge.files, { recursive: true });
  await load(server.signed('f', 'ff'));
  expect(await read(invocations, { ...ofPress, error_type: 'folder_unavailable' })).toBe(1);
});

it('the metrics have the connections to the hub and to the broker', async () => {
  const [connected, attempts] = ['device_messaging_edge_connected', 'device_messaging_edge_connections_total'];
  const [hub, broker] = [{ device_messaging_peer: 'hub' }, { device_messaging_peer: 'broker' }];
  const opened = { ...broker, device_messaging_result: 'opened' };
  const failed = { ...broker, device_messaging_result: 'failed' };
  const before = await read(attempts, opened);
  expect([await read(connected, hub), await read(connected, broker)]).toEqual([1, 1]);
  expect(await read(attempts, { ...hub, device_messaging_result: 'opened' })).toBe(1);
  await edge.stopBroker();
  await expect.poll(() => read(attempts, failed), { timeout: 30_000 }).toBeGreaterThan(0);
  expect([await read(connected, hub), await read(connected, broker)]).toEqual([1, 0]);
  await edge.call({ objectId: busObject });
  const unreachable = { device_messaging_module: 'bus', error_type: 'broker_unavailable' };
  expect(await read(invocations, unreachable)).toBe(1);
  await edge.startBroker();
  await edge.ready();
  expect(await read(connected, broker)).toBe(1);
  expect(await read(attempts, opened)).toBe(before + 1);
  expect(await read(attempts, { ...hub, device_messaging_result: 'opened' })).toBe(1);
});

it('the metrics are exactly those of the edge proxy', async () => {
  const served = new Set((await samples()).map(({ name }) => name.replace(/_(bucket|count|sum)$/, '')));
  const declared = Object.entries(metrics).map(([name, one]) => prometheusNameOf(name, one));
  expect([...served].toSorted()).toEqual(['target_info', ...declared].toSorted());
});

it('the metrics have every reason of a failure', () => {
  const { attributes } = edgeMetrics['rpc.server.call.duration'];
  expect(attributes[2].values).toEqual(['', ...Object.keys(failures)]);
});

it('the metrics have no names of the device, the callers or the files, and no secret', async () => {
  const text = await edge.metrics();
  expect(text).toContain(`target_info{service_name="edge-proxy",service_version="${version}"} 1`);
  for (const one of ['edge-1', busObject, nobody, 'c-1', 'configure', server.host, 'secret', 'sig=', 'firmware'])
    expect(text).not.toContain(one);
});
