import { readFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { afterEach, expect, it, vi } from 'vitest';
import { startForTest } from '../../iot-hub-emulator/test/support/fixtures.ts';
import { listening } from '../../iot-hub-emulator/test/support/listening.ts';
import { hubForAll } from '../../iot-hub-emulator/test/support/sharedHub.ts';
import { connectionStringTo, endpointIn, findEndpoint } from '../../src/hub/reading/foundEndpoint.ts';
import { cureHubSdks } from '../../src/hub/sdkCures.ts';
import { diagnoseLookUp } from '../../src/observing/diagnosis.ts';
import { hubLoginOf, hubNameOf } from '../../src/settings/derived.ts';

cureHubSdks();

const hub = hubForAll({ partitions: 1 });
afterEach(() => void hub.faults.clear());

const lookUp = (connectionString: string, answerMs = 30_000) =>
  findEndpoint(connectionString, answerMs, { ca: readFileSync(hub.caFile, 'utf8') });
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
  const failed = findEndpoint(hub.connectionString('service'), 30_000);
  const { todo, isAnswer } = diagnoseLookUp(await failed.catch((error) => error));
  expect([todo, isAnswer]).toEqual([expect.stringContaining('NETWORK_CA_FILE'), false]);
});

it('a port that is closed is named', async () => {
  const expected = { cause: 'ECONNREFUSED', isAnswer: false, todo: expect.stringContaining('nobody answers') };
  expect(await failureOf('HostName=localhost:1;SharedAccessKeyName=n;SharedAccessKey=a2V5')).toMatchObject(expected);
});

it('a link that is refused for another reason is an answer', async () => {
  hub.faults.add({ kind: 'refuse-link', address: 'messages/events', condition: 'com.microsoft:server-busy' });
  const expected = { cause: 'com.microsoft:server-busy', isAnswer: true };
  expect(await failureOf(hub.connectionString('service'))).toMatchObject(expected);
});

it('a hub that says nothing is given up in time, and no connection is left', async () => {
  const { port, sockets } = await startForTest(listening(createServer((socket) => socket.resume())));
  const found = await failureOf(`HostName=127.0.0.1:${port};SharedAccessKeyName=n;SharedAccessKey=a2V5`, 200);
  expect(found).toMatchObject({ cause: 'TooLate', isAnswer: false });
  await vi.waitFor(() => expect(sockets.size).toBe(0), { timeout: 60_000 });
});

const real = 'ihsuprodamsres01dednamespace.servicebus.windows.net';

const told = {
  hostname: real,
  'network-host': real,
  port: 5671,
  address: `amqps://${real}:5671/pumps-1-a/$management`,
};
const ownPort = { hostname: 'localhost', address: 'amqps://localhost:4321/pumps/$management' };

it.each<[what: string, info: unknown, endpoint: object | undefined]>([
  ['as the hub does', told, { namespace: real, eventHub: 'pumps-1-a' }],
  ['to a port of its own', ownPort, { namespace: 'localhost:4321', eventHub: 'pumps' }],
  ['of an address alone', { address: 'amqps://a.example/pumps' }, { namespace: 'a.example', eventHub: 'pumps' }],
  ['without an address', { hostname: real }, undefined],
  ['to no event hub', { hostname: real, address: `amqps://${real}:5671/` }, undefined],
  ['with more than a name', { hostname: real, address: `amqps://${real}/a;SharedAccessKey=x` }, undefined],
  ['with a host that is none', { hostname: 'a;b', address: 'amqps://a.example/pumps' }, undefined],
  ['without anything', undefined, undefined],
])('a redirect %s names the endpoint, or none', (_, info, endpoint) => expect(endpointIn(info)).toEqual(endpoint));

it('a connection string of a hub gives the one of its endpoint, with the same policy', () => {
  const login = hubLoginOf('HostName=pumps.azure-devices.net;SharedAccessKeyName=service;SharedAccessKey=a2V5PQ==');
  expect(login).toEqual({ host: 'pumps.azure-devices.net', port: 5671, policy: 'service', key: 'a2V5PQ==' });
  expect(hubNameOf(login)).toBe('pumps');
  expect(connectionStringTo({ namespace: 'n.example', eventHub: 'e' }, login)).toBe(
    'Endpoint=sb://n.example/;SharedAccessKeyName=service;SharedAccessKey=a2V5PQ==;EntityPath=e',
  );
});
