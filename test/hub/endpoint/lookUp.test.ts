import { readFileSync } from 'node:fs';
import { type AddressInfo, createServer as createTcpServer, type Server, type Socket } from 'node:net';
import { afterEach, expect, it, vi } from 'vitest';
import { hubForAll } from '../../../iot-hub-emulator/test/support/sharedHub.ts';
import { lookUpEndpoint } from '../../../src/hub/endpoint/lookUp.ts';
import { cureHubSdks } from '../../../src/hub/sdkCures.ts';
import { diagnoseLookUp } from '../../../src/observing/diagnosis.ts';
import { hubLoginOf } from '../../../src/settings/derived.ts';

cureHubSdks();

const hub = hubForAll({ partitions: 1 });
let silent: Server | undefined;
afterEach(() => {
  silent?.close();
  silent = undefined;
  hub.faults.clear();
});

const lookUp = (connectionString: string, answerMs = 30_000) =>
  lookUpEndpoint(hubLoginOf(connectionString), answerMs, { ca: readFileSync(hub.caFile, 'utf8') });
const failureOf = (connectionString: string, answerMs?: number) =>
  lookUp(connectionString, answerMs).then(() => undefined, diagnoseLookUp);

it.each(['service', 'iothubowner'])('the hub names its event endpoint to the policy %s', async (policy) => {
  const namespace = `localhost:${hub.ports.amqps}`;
  expect(await lookUp(hub.connectionString(policy))).toEqual({ namespace, eventHub: 'sandbox-hub' });
  await hub.faults.strike({ kind: 'failover' });
  expect(await lookUp(hub.connectionString(policy))).toEqual({ namespace, eventHub: 'sandbox-hub-secondary' });
  await hub.faults.strike({ kind: 'failover' });
});

it.each<[what: string, connectionString: () => string]>([
  ['a wrong key', () => hub.connectionString('service').replace(/SharedAccessKey=.*/, 'SharedAccessKey=d3Jvbmc=')],
  ['a policy without the right', () => hub.connectionString('registryRead')],
])('%s is refused, which the diagnosis says without the key', async (_, connectionString) => {
  const found = await failureOf(connectionString());
  expect(found).toMatchObject({
    isAnswer: true,
    setting: 'HUB_SERVICE_CONNECTION_STRING',
    todo: expect.stringContaining('has service connect'),
  });
  expect(JSON.stringify(found)).not.toContain('SharedAccessKey=');
});

it('a certificate that is not trusted is named', async () => {
  const failed = lookUpEndpoint(hubLoginOf(hub.connectionString('service')), 30_000);
  const { todo, isAnswer } = diagnoseLookUp(await failed.catch((error) => error));
  expect([todo, isAnswer]).toEqual([expect.stringContaining('NETWORK_CA_FILE'), false]);
});

it('a port that is closed is named', async () => {
  const found = await failureOf('HostName=localhost:1;SharedAccessKeyName=n;SharedAccessKey=a2V5');
  expect(found).toMatchObject({
    cause: 'ECONNREFUSED',
    isAnswer: false,
    todo: expect.stringContaining('nobody answers'),
  });
});

it('a link that is refused for another reason is an answer', async () => {
  hub.faults.add({ kind: 'refuse-link', address: 'messages/events', condition: 'com.microsoft:server-busy' });
  expect(await failureOf(hub.connectionString('service'))).toMatchObject({
    cause: 'com.microsoft:server-busy',
    isAnswer: true,
  });
});

it('a hub that says nothing is given up in time, and no connection is left', async () => {
  const sockets = new Set<Socket>();
  silent = createTcpServer((socket) => {
    sockets.add(socket.resume());
    socket.on('close', () => sockets.delete(socket)).on('error', () => undefined);
  });
  await new Promise<void>((resolve) => silent?.listen(0, '127.0.0.1', resolve));
  const { port } = silent.address() as AddressInfo;
  const found = await failureOf(`HostName=127.0.0.1:${port};SharedAccessKeyName=n;SharedAccessKey=a2V5`, 200);
  expect(found).toMatchObject({ cause: 'TooLate', isAnswer: false });
  await vi.waitFor(() => expect(sockets.size).toBe(0), { timeout: 60_000 });
});
