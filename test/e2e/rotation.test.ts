import { randomUUID, X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { Agent, request } from 'node:https';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { TLSSocket } from 'node:tls';
import { ContainerClient } from '@azure/storage-blob';
import { type Hub, startHub } from 'iot-hub-emulator';
import { createJournal } from 'iot-hub-emulator/journal';
import { ensureCertificates } from 'iot-hub-emulator/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { folderForAll } from '../../iot-hub-emulator/test/support/fixtures.ts';
import { type Backends, startBackends } from '../../sandbox/backends/backends.ts';
import { connectDevice, type Device } from '../../sandbox/device/device.ts';
import { buildService } from '../../sandbox/service/build.ts';
import { freePort } from '../../sandbox/service/freePort.ts';
import { startService } from '../../sandbox/service/process.ts';
import { envelope } from '../../sandbox/stories/wire.ts';
import { withConstants } from '../support/processes.ts';
import { type RotatingAzurite, startRotatingAzurite } from '../support/rotatingAzurite.ts';
import { createSecretVolume } from '../support/secretVolume.ts';
import { linesIn } from './testSandbox.ts';

// The built programs while the secrets for hub, storage and backends are replaced, one by one, under load: nothing is lost, nothing
// is repeated, and no secret gets out (D397). The operators’ token: test/admin/admin.test.ts.

const directory = folderForAll('rotation');
let hub: Hub;
let backends: Backends;
let account: RotatingAzurite;
/** Those that the backends take as the token of all. */
const tokens = new Set<string>();
/** All that there ever were. */
const secrets = new Set<string>();

const known = <S extends string>(secret: S): S => {
  const keys = secret.split(';').flatMap((part) => /^(?:SharedAccessKey|AccountKey)=(.*)$/.exec(part)?.[1] ?? []);
  for (const one of keys.length > 0 ? keys : [secret]) secrets.add(one);
  return secret;
};
const newToken = () => known(`token-${randomUUID()}`);

beforeAll(async () => {
  await buildService();
  const journal = createJournal({ bytes: 2 ** 28 });
  [hub, backends, account] = await Promise.all([
    startHub({ directory: join(directory, 'hub'), devices: [{ deviceId: 'pump-1' }, { deviceId: 'motor-1' }] }),
    startBackends({ seed: true, accepts: (_, token) => tokens.has(token), journal }),
    startRotatingAzurite(),
  ]);
});
afterAll(() => Promise.all([hub?.close(), backends?.close(), account?.close()]));

const deviceOf = (id: string) =>
  connectDevice({ id, connectionString: hub.deviceConnectionString(id), caFile: hub.caFile });

/** Of the file with this name in the folder of secrets: mostly that of the variable. */
const settingOf = (name: string): string =>
  ({ 'tls.crt': 'METHODS_TLS_CERTIFICATE_FILE', 'tls.key': 'METHODS_TLS_KEY_FILE' })[name] ?? `${name}_FILE`;

/** A program with its secrets in a mounted folder. */
type Program = Awaited<ReturnType<typeof start>>;

/** @param held secrets by the name of their variable */
async function start(
  name: string,
  held: Readonly<Record<string, string>>,
  environment: Readonly<Record<string, string>>,
  command?: readonly string[],
) {
  const volume = createSecretVolume(join(directory, `${name}-secrets`), held);
  const files = Object.keys(held).map((name) => [settingOf(name), volume.file(name)]);
  const port = await freePort();
  const logFile = join(directory, `${name}.log`);
  const running = await startService({
    environment: {
      ...{ NODE_ENV: 'production', HTTP_HOST: '127.0.0.1', HTTP_PORT: String(port), NODE_EXTRA_CA_CERTS: hub.caFile },
      ...{ INFORMATION_MODEL_URL: backends.informationModelUrl, TYPE_REGISTRY_URL: backends.typeRegistryUrl },
      ...environment,
      ...withConstants({ secretFiles: { lookMs: 100 } }),
      ...Object.fromEntries(files),
    },
    ...{ readyzUrl: `http://127.0.0.1:${port}/readyz`, logFile, command },
  });
  const lines = () => linesIn(logFile);
  const changesOf = (name: string) =>
    lines().filter(({ event, setting }) => event === 'secret.changed' && setting === settingOf(name)).length;
  return {
    volume,
    lines,
    /** Replaces secrets in the folder, and waits until the program says that it uses them. */
    async use(changes: Readonly<Record<string, string>>) {
      const told = Object.keys(changes).filter((name) => name !== 'tls.key'); // with its certificate
      const before = told.map((name) => [name, changesOf(name)] as const);
      for (const [name, secret] of Object.entries(changes)) if (name !== 'tls.crt') known(secret);
      volume.put(changes);
      for (const [name, count] of before) await expect.poll(() => changesOf(name)).toBe(count + 1);
    },
    /** Ends it. Nothing that it has put out may have a secret. */
    async end() {
      const metrics = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text();
      await running.stop();
      const all = metrics + readFileSync(logFile, 'utf8');
      for (const secret of secrets) expect(all).not.toContain(secret);
      expect(all).not.toMatch(/sig=|Bearer [\w-]{8}/);
    },
  };
}

/** What opened a link with the old key must be renewed from now on. */
const expire = (connections: 'events' | 'service') => hub.faults.strike({ kind: 'expire-tokens', connections });

describe('the service', () => {
  let program: Program;
  let pump: Device;
  const sent: string[] = [];
  const acknowledged: string[] = [];
  const mostOnTheWay = 50;
  let isLoaded = true;
  let load: Promise<unknown>;

  beforeAll(async () => {
    program = await start(
      'service',
      {
        HUB_EVENTS_CONNECTION_STRING: known(hub.eventHubConnectionString('events')),
        HUB_SERVICE_CONNECTION_STRING: known(hub.connectionString('service')),
        STORE_CONNECTION_STRING: known(account.connectionStringOf(0)),
        BACKENDS_CLIENT_SECRET: known(backends.token.clientSecret),
      },
      {
        PRINCIPAL_MANAGER_URL: backends.principalManagerUrl,
        BACKENDS_TOKEN_URL: backends.token.url,
        BACKENDS_CLIENT_ID: backends.token.clientId,
        ...{ STORE: 'blob', DATA_DIRECTORY: join(directory, 'data'), ADMIN_PORT: '0' },
      },
    );
    pump = await deviceOf('pump-1');
    load = Promise.all([sendAlways(), receiveAlways()]);
  });
  afterAll(async () => {
    isLoaded = false;
    await load;
    await pump?.close();
    await program?.end();
  });

  async function sendAlways() {
    while (isLoaded) {
      const correlationId = randomUUID();
      const body = JSON.stringify({ model: 'svc.device', type: 'pump', properties: { serial: correlationId } });
      await pump.send(envelope('model.create', correlationId), Buffer.from(body));
      sent.push(correlationId);
      await sleep(20);
      // A slow machine would fall behind further and further.
      while (isLoaded && sent.length - acknowledged.length >= mostOnTheWay) await sleep(20);
    }
  }

  async function receiveAlways() {
    while (isLoaded || acknowledged.length < sent.length) {
      const reply = await pump.next(isLoaded ? 100 : 120_000);
      if (reply?.properties['msgType'] !== 'ack') continue;
      expect(JSON.parse(reply.body.toString())).toMatchObject({ success: true });
      acknowledged.push(reply.properties['correlationId'] ?? reply.correlationId ?? '');
    }
  }

  /** What is sent from now on is answered. */
  async function works() {
    const later = sent.length + 10;
    await expect.poll(() => acknowledged.length).toBeGreaterThan(later);
  }

  type Keys = readonly ['primaryKey' | 'secondaryKey', 'primaryKey' | 'secondaryKey'];
  it.each([
    ['events', (key: Keys[0]) => ({ HUB_EVENTS_CONNECTION_STRING: hub.eventHubConnectionString('events', key) })],
    ['service', (key: Keys[0]) => ({ HUB_SERVICE_CONNECTION_STRING: hub.connectionString('service', key) })],
  ] as const)('goes on while either key of the endpoint is renewed: %s', async (endpoint, withKey) => {
    await works();
    const turns: Keys[] = [
      ['secondaryKey', 'primaryKey'],
      ['primaryKey', 'secondaryKey'],
    ];
    for (const [used, renewed] of turns) {
      await program.use(withKey(used));
      await hub.renewKey(endpoint, renewed);
      await expire(endpoint);
      await works();
    }
  });
  it('catches up when a key is revoked before there is another one', async () => {
    await hub.renewKey('service', 'primaryKey');
    await hub.renewKey('events', 'primaryKey');
    await Promise.all([expire('service'), expire('events')]);
    await expect.poll(() => program.lines().some(({ event }) => event === 'service_endpoint.unreachable')).toBe(true);
    await program.use({
      HUB_SERVICE_CONNECTION_STRING: hub.connectionString('service', 'primaryKey'),
      HUB_EVENTS_CONNECTION_STRING: hub.eventHubConnectionString('events', 'primaryKey'),
    });
    await works();
  });
  it('goes on while either key of the storage account is renewed', async () => {
    await program.use({ STORE_CONNECTION_STRING: account.connectionStringOf(1) });
    await account.renew(0);
    await works();
    await program.use({ STORE_CONNECTION_STRING: account.connectionStringOf(0) });
    await account.renew(1);
    await works();
    const failed = program.lines().filter(({ event }) => /^(checkpoint|ownership|message)\.not_/.test(String(event)));
    expect(failed).toEqual([]);
  });
  it('gets its tokens with the next client secret', async () => {
    const next = newToken();
    backends.token.setSecrets(backends.token.clientSecret, next);
    await program.use({ BACKENDS_CLIENT_SECRET: next });
    backends.token.setSecrets(next);
    backends.token.revokeAll();
    await works();
    // The endpoint refuses the secret before the file is looked at.
    const last = newToken();
    backends.token.setSecrets(last);
    program.volume.put({ BACKENDS_CLIENT_SECRET: last });
    backends.token.revokeAll();
    await works();
  });
  it('has lost nothing and repeated nothing', async () => {
    isLoaded = false;
    await load;
    expect(acknowledged.toSorted()).toEqual(sent.toSorted());
    const handled = program.lines().filter(({ msg }) => msg === 'handled');
    await expect.poll(() => program.lines().filter(({ msg }) => msg === 'handled')).toHaveLength(sent.length);
    expect(new Set(handled.map(({ correlationId }) => correlationId)).size).toBe(handled.length);
    const created = backends
      .calls()
      .filter(({ method, path, status }) => method === 'POST' && path.startsWith('/object?') && status === 201);
    expect(created).toHaveLength(sent.length);
  });
});

describe('the front door', () => {
  const container = 'rotated';
  let program: Program;
  let motor: Device;
  let port: number;
  let path: string;
  let trusted: string[];
  /** Of the certificate that the latest new connection has got. */
  let issuer = '';
  /** Of each call its status, and what else than the reply of the device there was. */
  const answers: string[] = [];
  let isLoaded = true;
  let load: Promise<unknown>;

  beforeAll(async () => {
    port = await freePort();
    const token = newToken();
    tokens.add(token);
    const { ca, cert, key } = await ensureCertificates(join(directory, 'first'));
    trusted = [ca];
    const files = new ContainerClient(account.connectionStringOf(0), container);
    await files.create();
    await files.uploadBlockBlob('curve.json', '{"a":1}', 7);
    motor = await deviceOf('motor-1');
    await motor.onMethod('invokeMethod', (_, send) => send(200, { status: 0, output: {} }));
    const object = backends.world.objects.list().find(({ name }) => name === 'Conveyor motor');
    path = `/objects/${object?.objectId}/models/svc.device/methods/loadFirmware`;
    program = await start(
      'front-door',
      {
        HUB_SERVICE_CONNECTION_STRING: known(hub.connectionString('service')),
        METHODS_FILES_CONNECTION_STRING: known(account.connectionStringOf(0)),
        BACKENDS_TOKEN: token,
        ...{ 'tls.crt': cert, 'tls.key': known(key) },
      },
      { METHODS_PORT: String(port), METHODS_FILES_CONTAINER: container, ADMIN_PORT: '0' },
      ['node', 'dist/methods.js'],
    );
    load = Promise.all([invokeAlways(new Agent({ keepAlive: true })), invokeAlways(new Agent({ keepAlive: false }))]);
  });
  afterAll(async () => {
    isLoaded = false;
    await load;
    await motor?.close();
    await program?.end();
  });

  async function invokeAlways(agent: Agent) {
    while (isLoaded) {
      answers.push(await invoke(agent));
      await sleep(20);
    }
    agent.destroy();
  }

  function invoke(agent: Agent): Promise<string> {
    const application = { name: 'control-room', tenant: 'acme', mayInvoke: true };
    const authorization = `Bearer ${backends.applications.issue(application, 600)}`;
    const headers = { authorization, 'content-type': 'application/json' };
    return new Promise((resolve, reject) => {
      const options = { agent, ca: trusted, port, host: 'localhost', path, method: 'POST', headers };
      const outgoing = request(options, (answer) => {
        text(answer).then(
          (said) => resolve(answer.statusCode === 200 ? '200' : `${answer.statusCode} ${said}`),
          reject,
        );
      });
      outgoing.on('socket', (socket) => {
        if (outgoing.reusedSocket) return;
        socket.once('secureConnect', () => {
          if (socket instanceof TLSSocket) issuer = socket.getPeerCertificate().fingerprint256;
        });
      });
      outgoing.on('error', reject);
      outgoing.end(JSON.stringify({ input: { image: 'curve.json' } }));
    });
  }

  async function works() {
    const later = answers.length + 10;
    await expect.poll(() => answers.length).toBeGreaterThan(later);
    expect(answers.filter((answer) => answer !== '200')).toEqual([]);
  }
  it('goes on while either key of the hub is renewed', async () => {
    await works();
    await program.use({ HUB_SERVICE_CONNECTION_STRING: hub.connectionString('service', 'secondaryKey') });
    await hub.renewKey('service', 'primaryKey');
    await works();
    // Revoked before the file is looked at: the hub refuses the first call.
    program.volume.put({ HUB_SERVICE_CONNECTION_STRING: known(hub.connectionString('service', 'primaryKey')) });
    await hub.renewKey('service', 'secondaryKey');
    await works();
  });
  it('goes on while either key of the files is renewed', async () => {
    await program.use({ METHODS_FILES_CONNECTION_STRING: account.connectionStringOf(1) });
    await account.renew(0);
    await works();
  });
  it('goes on with the next token for the backends, also when the old one is refused at once', async () => {
    for (const isToldFirst of [true, false]) {
      const next = newToken();
      tokens.add(next);
      if (isToldFirst) await program.use({ BACKENDS_TOKEN: next });
      else program.volume.put({ BACKENDS_TOKEN: next });
      tokens.clear();
      tokens.add(next);
      await works();
    }
  });
  it('shows its next certificate to new connections, and keeps the old one while the next is not whole', async () => {
    const before = issuer;
    const next = await ensureCertificates(join(directory, 'next'));
    trusted.push(next.ca);
    known(next.key);
    program.volume.put({ 'tls.crt': next.cert });
    await expect
      .poll(() => program.lines().find(({ event }) => event === 'secret.unusable'))
      .toMatchObject({ cause: expect.stringContaining('does not match the key in METHODS_TLS_KEY_FILE') });
    await works();
    expect(issuer).toBe(before);
    await program.use({ 'tls.key': next.key, 'tls.crt': next.cert });
    await expect.poll(() => issuer).toBe(new X509Certificate(next.cert).fingerprint256);
    await works();
    expect(program.lines().filter(({ event }) => event === 'secret.usable')).toHaveLength(1);
  });
  it('has answered every call with the reply of the device', async () => {
    isLoaded = false;
    await load;
    expect(answers.filter((answer) => answer !== '200')).toEqual([]);
  });
});
