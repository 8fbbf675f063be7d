import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { failures } from '../../edge/src/hub/invocation.ts';
import { edgeMetrics, metrics } from '../../edge/src/observing/metrics.ts';
import { startForAll } from '../../iot-hub-emulator/test/support/fixtures.ts';
import { prometheusNameOf } from '../../scripts/metricsPage.ts';
import { parseMetrics, sampleOf } from '../support/prom.ts';
import { startFileServer } from './support/fileServer.ts';
import { startTestEdge } from './support/testEdge.ts';
import { busObject } from './support/testProxy.ts';

// What an operator reads at /metrics of the edge proxy; the numbers are in the table of all metrics.

const server = startForAll(startFileServer);
const edge = startForAll(() => startTestEdge({ files: { hosts: [server.host], loopbackHttp: true } }));
const press = startForAll(() => edge.module('press'));

const { version } = JSON.parse(readFileSync('edge/package.json', 'utf8'));
const nobody = 'ffffffff-7f2b-4f0e-8d57-3b8f2f6c9e11';
const samples = async () => parseMetrics(await edge.metrics());
const read = async (name: string, labels: Readonly<Record<string, string>> = {}) =>
  sampleOf(await samples(), name, labels) ?? 0;

it('the metrics have the invocations in progress and the connections', async () => {
  const connected = async () => {
    const peers = ['hub', 'broker'].map((peer) => ({ device_messaging_peer: peer }));
    return Promise.all(peers.map((peer) => read('device_messaging_edge_connected', peer)));
  };
  const image = server.signed('a', 'aa');
  const calling = edge.call({ method: 'configure', input: { image: 'firmware.bin' }, files: { image } });
  const request = await press.next();
  expect([await read('device_messaging_edge_invocations'), await connected()]).toEqual([1, [1, 1]]);
  request.reply(7);
  request.reply(7); // nobody waits for it
  await calling;
  await edge.stopBroker();
  await expect.poll(connected).toEqual([1, 0]);
  expect(await read('device_messaging_edge_invocations')).toBe(0);
  await edge.call({ objectId: nobody });
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
