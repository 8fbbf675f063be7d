import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { demonstrate } from '../../sandbox/demonstration/demonstrate.ts';
import { connectDevice } from '../../sandbox/device/device.ts';
import { type Azurite, accountKey, startAzurite } from '../../sandbox/methods/azurite.ts';
import { freePort } from '../../sandbox/service/freePort.ts';
import { type ServiceProcess, startService } from '../../sandbox/service/process.ts';
import { envelope } from '../../sandbox/stories/wire.ts';
import { http } from '../sandbox/backends/client.ts';
import { type Collector, startCollector } from '../support/collector.ts';
import { type ConnectProxy, type ProxyBehaviour, startConnectProxy } from '../support/connectProxy.ts';
import { type Relay, startTlsRelay } from '../support/relay.ts';
import { findings } from './check/run.ts';
import { nextAck, sandboxForAll } from './testSandbox.ts';

// The built programs in a narrow network: every way out is a proxy, and every certificate is of a private authority (D405 to D407).

type Environment = Readonly<Record<string, string>>;

const sandbox = sandboxForAll({ service: false, methods: 'prepared', keepsContracts: false });
let proxy: ConnectProxy;
let storage: Azurite;
let collector: Collector;
let relays: Relay[];
let narrow: Environment;
beforeAll(async () => {
  const hubDirectory = join(sandbox.directory, 'hub');
  const [cert, key] = ['server.pem', 'server.key'].map((name) => join(hubDirectory, name)) as [string, string];
  const certificate = { cert: readFileSync(cert, 'utf8'), key: readFileSync(key, 'utf8') };
  const starting = [startConnectProxy(), startAzurite({ certificate: { cert, key } }), startCollector()] as const;
  [proxy, storage, collector] = await Promise.all(starting);
  relays = [];
  /** The same address behind TLS. */
  async function secured(url: string): Promise<string> {
    const { port, pathname } = new URL(url);
    const relay = await startTlsRelay(Number(port), certificate);
    relays.push(relay);
    return `https://localhost:${relay.port}${pathname === '/' ? '' : pathname}`;
  }
  const { hub, backends } = sandbox;
  narrow = {
    ...{ HTTPS_PROXY: proxy.urlWithCredentials, HTTP_PROXY: '', NO_PROXY: '', NETWORK_CA_FILE: hub.caFile },
    NODE_EXTRA_CA_CERTS: '',
    HUB_TRANSPORT: 'websockets',
    HUB_EVENTS_CONNECTION_STRING: hub.eventsConnectionString
      .replace(/sb:\/\/[^;]*/, `sb://localhost:${hub.ports.amqps}/`)
      .replace(';UseDevelopmentEmulator=true', ''),
    INFORMATION_MODEL_URL: await secured(backends.informationModelUrl),
    TYPE_REGISTRY_URL: await secured(backends.typeRegistryUrl),
    PRINCIPAL_MANAGER_URL: await secured(backends.principalManagerUrl),
    BACKENDS_TOKEN_URL: await secured(backends.token.url),
    OTEL_EXPORTER_OTLP_ENDPOINT: await secured(collector.url),
    ...{ OTEL_METRIC_EXPORT_INTERVAL: '200', OTEL_TRACES_EXPORTER: 'otlp', OTEL_METRICS_EXPORTER: 'otlp' },
  };
});
afterAll(async () => {
  await Promise.all(relays.map((relay) => relay.close()));
  await Promise.all([proxy?.close(), storage?.close(), collector?.close()]);
});

const serviceEnvironment = (): Environment => ({
  ...sandbox.state.service.environment,
  ...narrow,
  STORE: 'blob',
  STORE_CONNECTION_STRING: `DefaultEndpointsProtocol=https;AccountName=devstoreaccount1;AccountKey=${accountKey};BlobEndpoint=${storage.url};`,
});
const methodsEnvironment = (): Environment => {
  const { HUB_TRANSPORT: _, HUB_EVENTS_CONNECTION_STRING: __, PRINCIPAL_MANAGER_URL: ___, ...common } = narrow;
  return {
    ...sandbox.state.methods?.environment,
    ...common,
    HTTP_PROXY: proxy.urlWithCredentials, // the storage of files has no TLS
  };
};
const asks = () => [...new Set(proxy.asked)].sort();
const hostsOf = (environment: Environment, names: readonly string[]) =>
  names.map((name) => new URL(environment[name] ?? '').host);

let logs = 0;
async function start(environment: Environment, command?: readonly string[]) {
  logs += 1;
  const logFile = join(sandbox.directory, `narrow-${logs}.log`);
  const healthPort = await freePort();
  const process = await startService({
    environment: { ...environment, HTTP_PORT: String(healthPort), ADMIN_PORT: '0' },
    readyzUrl: `http://127.0.0.1:${healthPort}/readyz`,
    ...{ logFile, command },
  });
  return { process, log: () => readFileSync(logFile, 'utf8') };
}

describe('the service behind a proxy that asks for credentials', () => {
  let running: { process: ServiceProcess; log: () => string };
  beforeAll(async () => {
    proxy.behave('asks');
    running = await start(serviceEnvironment());
  });
  afterAll(() => running.process.stop());

  it('handles a message of each kind, over WebSockets', () => demonstrate(sandbox));

  it('reaches hub, backends, token endpoint, storage and collector through the proxy, and nothing directly', async () => {
    await expect.poll(() => collector.metrics.length).toBeGreaterThan(0);
    await expect.poll(() => collector.spans.length).toBeGreaterThan(0);
    const named = ['INFORMATION_MODEL_URL', 'TYPE_REGISTRY_URL', 'PRINCIPAL_MANAGER_URL', 'BACKENDS_TOKEN_URL'];
    const expected = [
      `localhost:${sandbox.hub.ports.amqps}`,
      ...hostsOf(narrow, [...named, 'OTEL_EXPORTER_OTLP_ENDPOINT']),
      new URL(storage.url).host,
    ];
    expect(asks()).toEqual([...new Set(expected)].sort());
    const direct = relays.flatMap(({ clients }) => clients.filter((port) => !proxy.ports.has(port)));
    expect(direct).toEqual([]);
  });
  it('goes on when the proxy cuts all connections', async () => {
    expect(proxy.cut()).toBeGreaterThan(0);
    const pump = await sandbox.connect('pump-2');
    await pump.send(
      envelope('model.create', 'after'),
      Buffer.from('{"model":"svc.device","type":"pump","properties":{"serial":"after"}}'),
    );
    expect((await nextAck(pump)).body).toMatchObject({ success: true });
    await pump.close();
  });
  it('has no credentials of the proxy in its log, but where the proxy is', () => {
    const log = running.log();
    expect(log).toContain(`"httpsProxy":"${proxy.url}/"`);
    for (const secret of proxy.secrets) expect(log).not.toContain(secret);
  });
});

it('the front door behind the proxy has a method invoked', async () => {
  proxy.behave('asks');
  const { hub, backends, state } = sandbox;
  const port = await freePort();
  const environment: Environment = { ...methodsEnvironment(), METHODS_PORT: String(port) };
  const { process } = await start(environment, ['node', 'dist/methods.js']);
  const connectionString = hub.deviceConnectionString('motor-1');
  const motor = await connectDevice({ id: 'motor-1', connectionString, caFile: hub.caFile });
  await motor.onMethod('invokeMethod', (_, send) => send(200, { status: 0, output: {} }));
  const object = backends.world.objects.list().find(({ name }) => name === 'Conveyor motor');
  const path = `/objects/${object?.objectId}/models/svc.device/methods/stop`;
  const headers = { authorization: `Bearer ${state.methods?.tokens.invoker}`, 'content-type': 'application/json' };
  const before = proxy.asked.length;
  const reply = await http(`http://127.0.0.1:${port}`, 'POST', path, {}, headers);
  expect([reply.status, reply.text]).toEqual([200, expect.stringContaining('"status":0')]);
  expect(proxy.asked.slice(before)).toContain(new URL(environment['INFORMATION_MODEL_URL'] ?? '').host);
  expect(asks()).toContain(`localhost:${hub.ports.amqps}`);
  await Promise.all([motor.close(), process.stop()]);
});

describe('the check behind the proxy', () => {
  it.each([
    ['service', [], serviceEnvironment],
    ['service with a look-up', [], () => ({ ...serviceEnvironment(), HUB_EVENTS_CONNECTION_STRING: '' })],
    ['front door', ['methods'], methodsEnvironment],
  ] as const)('finds nothing wrong for the %s, and reaches all through the proxy', async (_, args, environment) => {
    proxy.behave('asks');
    const before = proxy.asked.length;
    const { code, found, text } = await findings(args, environment());
    expect([code, found.filter(({ mark }) => mark !== 'ok')]).toEqual([0, []]);
    const asked = proxy.asked.slice(before);
    expect(asked).toContain(`localhost:${sandbox.hub.ports.amqps}`);
    for (const name of ['INFORMATION_MODEL_URL', 'BACKENDS_TOKEN_URL'])
      expect(asked).toContain(new URL(narrow[name] ?? '').host);
    for (const secret of proxy.secrets) expect(text).not.toContain(secret);
  });
  it.each<[ProxyBehaviour, RegExp, number]>([
    ['asks', /HTTP 407.*the proxy asks for credentials: put those that it accepts into HTTPS_PROXY/, 1],
    ['refuses', /HTTP 403.*have the proxy allow CONNECT to this address, or name the host in NO_PROXY/, 1],
    ['cuts', /cannot be used.*compare HTTPS_PROXY with the proxy/, 0],
  ])('says what to do when the proxy %s', async (how, says, init) => {
    proxy.behave(how);
    const environment = { ...serviceEnvironment(), HTTPS_PROXY: proxy.url };
    const { code, found } = await findings(['--init'], environment);
    for (const what of ['event endpoint', 'service endpoint', 'token endpoint']) {
      const { found: seen = '', todo = '' } = found.find((one) => one.what === what) ?? {};
      expect(`${seen} ${todo}`).toMatch(says);
    }
    expect(code).toBe(init);
  });
});
