import { readFileSync } from 'node:fs';
import { createServer } from 'node:tls';
import type { Finding } from '@device-messaging/telemetry/check.ts';
import { useProxies } from '@device-messaging/telemetry/outbound.ts';
import { trustAlso } from '@device-messaging/telemetry/trust.ts';
import { issueCertificate } from 'iot-hub-emulator/testing';
import { describe, expect, it, onTestFinished } from 'vitest';
import { portForTest, startForTest } from '../../iot-hub-emulator/test/support/fixtures.ts';
import { useHubTransport } from '../../src/hub/hubTransport.ts';
import type { SendRefusal } from '../../src/hub/replies/sendFailure.ts';
import { cureHubSdks } from '../../src/hub/sdkCures.ts';
import { errors } from '../../src/hub/serviceSdk.ts';
import { diagnoseReading } from '../../src/observing/diagnosis.ts';
import { checkSettings } from '../../src/operations/checkDeployment.ts';
import { memoryNeeded, methodsMemory, serviceMemory } from '../../src/operations/machineProbes.ts';
import { type Openers, openersOf } from '../../src/operations/openers.ts';
import type { MethodFailure } from '../../src/protocol/vocabulary.ts';
import { ConfigurationError } from '../../src/settings/config.ts';
import { StorageError } from '../../src/stores/account.ts';
import { serve } from '../backends/harness.ts';
import { startConnectProxy } from '../support/connectProxy.ts';
import { settings } from '../support/environment.ts';
import { storageForAll } from '../support/storageAccount.ts';
import { frontDoorOf, serviceOf, tried } from './support/tried.ts';

// What each answer, or none, means for a deployment: a wrong setting or credential is a failure, and another machine that is
// away for now an outage, which stops no init container.

cureHubSdks();

type Verdict = 'ok' | 'warning' | 'failure' | 'outage';

const verdictOf = ({ mark, isOutage = false }: Finding): Verdict => (isOutage && mark === 'failure' ? 'outage' : mark);

/** What all these mean. */
const all = <T>(verdict: Verdict, ...answers: T[]) => answers.map((answer): [T, Verdict] => [answer, verdict]);

/** The only finding of a probe. */
async function one(...[name, settings, replaced]: Parameters<typeof tried>): Promise<Finding> {
  const [finding, ...more] = await tried(name, settings, replaced);
  expect([finding?.what, more]).toEqual([name, []]);
  return finding as Finding;
}

const dayMs = 24 * 60 * 60_000;
const mebibyte = 1024 * 1024;

/** A port at which nobody listens. */
const closedPort = 1;

describe.each([
  ['information model', 'INFORMATION_MODEL_URL'],
  ['type registry', 'TYPE_REGISTRY_URL'],
  ['principal manager', 'PRINCIPAL_MANAGER_URL'],
])('the %s', (name, setting) => {
  it.each([
    ...all('ok', 200, 403),
    ...all('failure', 401),
    ...all('warning', 301, 400, 404, 405),
    ...all('outage', 429, 500, 502, 503, 504),
  ])('that answers HTTP %i to a harmless question: %s', async (status, verdict) => {
    const url = await serve((_, response) => void response.writeHead(status).end('{}'));
    const finding = await one(name, serviceOf({ [setting]: url }));
    expect([verdictOf(finding), finding.todo === undefined]).toEqual([verdict, verdict === 'ok']);
    expect(finding.found).toContain(`HTTP ${status}`);
    if (verdict !== 'ok') expect(finding.found).toContain(setting);
    if (verdict === 'warning')
      expect(finding.todo).toBe(`compare ${setting} with its base URL, and the rights of the token`);
    if (status === 401) expect(finding.todo).toContain('BACKENDS_TOKEN');
    expect(/accepts the token/.test(finding.found)).toBe(status === 200);
  });

  it.each([
    ['is away', () => Promise.resolve(`http://127.0.0.1:${closedPort}`)],
    ['hangs up', () => serve((request) => void request.socket.destroy())],
  ])('that %s is out', async (_, start) =>
    expect(verdictOf(await one(name, serviceOf({ [setting]: await start() })))).toBe('outage'),
  );
});

describe('the token endpoint', () => {
  const refused = ([status, verdict]: [number, Verdict]): [number, string, Verdict] => [status, '{}', verdict];
  const token = JSON.stringify({ access_token: 'a-token', expires_in: 300 });
  /** What is said of it and of a backend, of which it is one question. */
  async function both(tokenUrl: string, url: string) {
    const client = { BACKENDS_CLIENT_ID: 'id', BACKENDS_CLIENT_SECRET: 'secret' };
    const settings = serviceOf({ ...client, BACKENDS_TOKEN_URL: tokenUrl, INFORMATION_MODEL_URL: url });
    const shared = { token: openersOf(settings).token };
    const asked = ['token endpoint', 'information model'].map((name) => tried(name, settings, shared));
    return (await Promise.all(asked)).flat();
  }

  it.each<[status: number, body: string, Verdict]>([
    [200, token, 'ok'],
    [200, '<html>', 'failure'],
    ...all('failure', 400, 401, 403, 404).map(refused),
    ...all('outage', 408, 429, 500, 503).map(refused),
  ])('that answers HTTP %i with %s: %s', async (status, body, verdict) => {
    const asked: (string | undefined)[] = [];
    let times = 0;
    const url = await serve((request, response) => {
      if (request.method === 'POST') {
        times += 1;
        response.writeHead(status).end(body);
      } else {
        asked.push(request.headers.authorization);
        response.writeHead(200).end('{}');
      }
    });
    const findings = await both(`${url}/token`, url);
    const isOk = verdict === 'ok';
    const expected = [['token endpoint', verdict], ...(isOk ? [['information model', 'ok']] : [])];
    expect(findings.map((one) => [one.what, verdictOf(one)])).toEqual(expected);
    expect([times, asked]).toEqual([1, isOk ? ['Bearer a-token'] : []]);
    expect(JSON.stringify(findings)).not.toContain('a-token');
  });

  it('that is away is out', async () =>
    expect((await both(`http://127.0.0.1:${closedPort}/token`, 'http://im')).map(verdictOf)).toEqual(['outage']));
});

describe('the hub', () => {
  const byIdentity = { IDENTITY: 'managed', HUB_SERVICE_CONNECTION_STRING: '', HUB_HOST_NAME: 'hub.example' };
  const ways = [
    ['HUB_SERVICE_CONNECTION_STRING', {}],
    ['HUB_HOST_NAME', byIdentity],
  ] as const;

  const invoked = (result: object, environment = {}) =>
    one('service endpoint', frontDoorOf(environment), { invokeAtNobody: async () => result as never });

  it.each([
    ...all<MethodFailure>('ok', 'device_unknown', 'device_offline'),
    ...all<MethodFailure>('failure', 'refused'),
    ...all<MethodFailure>('outage', 'throttled', 'quota', 'unavailable', 'outcome_unknown', 'no_reply', 'bad_reply'),
  ])('that answers a method of no device by %s: %s', async (failure, verdict) => {
    for (const [setting, environment] of ways) {
      const finding = await invoked({ kind: 'failure', failure, status: 403, code: 403002 }, environment);
      expect(verdictOf(finding)).toBe(verdict);
      if (verdict !== 'ok') expect(finding.found).toMatch(new RegExp(`403 403002 \\(${setting}\\)$`));
    }
  });

  it('that does not answer, or answers for a device, is out or well', async () => {
    const silent = await invoked({ kind: 'failure', failure: 'unavailable' });
    expect(silent.found).toBe('no answer (HUB_SERVICE_CONNECTION_STRING)');
    expect(verdictOf(await invoked({ kind: 'response', status: 200, payload: {}, text: '{}' }))).toBe('ok');
  });

  const sent = (error: Error | undefined, environment = {}) =>
    one('service endpoint', serviceOf(environment), {
      sendToNobody: () => (error ? Promise.reject(error) : Promise.resolve(true)),
    });

  it.each<[reason: SendRefusal['reason'] | undefined, error: Error | undefined, Verdict]>([
    [undefined, undefined, 'ok'],
    ['unknown_device', new errors.DeviceNotFoundError('no such device'), 'ok'],
    ['throttled', new errors.ThrottlingError('later'), 'warning'],
    ['not_taken', new errors.InternalServerError('failed'), 'warning'],
    ['quota', new errors.IotHubQuotaExceededError('no more'), 'warning'],
    ['suspended', new errors.IoTHubSuspendedError('not now'), 'warning'],
  ])('that has for a message: %s', async (reason, error, verdict) => {
    const finding = await sent(error);
    expect(verdictOf(finding)).toBe(verdict);
    if (verdict === 'warning') expect(finding.found).toBe(`the hub refuses messages for now: ${reason}`);
  });

  it.each<[what: string, error: Error, Verdict]>([
    ['refuses the key', new errors.UnauthorizedError('no'), 'failure'],
    ['is no hub', new errors.DeviceNotFoundError('no such hub'), 'failure'],
    ['is away', new errors.NotConnectedError('down'), 'outage'],
    ['has failed', new errors.InternalServerError('failed'), 'outage'],
  ])('that %s: the answer may stand in the error of the connection', async (_, error, verdict) => {
    const wrapped = Object.assign(new errors.NotConnectedError('cannot connect'), { amqpError: error });
    for (const [setting, environment] of ways) {
      const finding = await sent(wrapped, environment);
      expect([verdictOf(finding), finding.todo !== undefined]).toEqual([verdict, true]);
      expect(finding.found).toBe(`${error.message} (${setting})`);
    }
  });
});

describe('checkpoints', () => {
  const extent = (partitionId: string, first: number, last: number, isEmpty = false) => ({
    ...{ partitionId, beginningSequenceNumber: first, lastEnqueuedSequenceNumber: last, isEmpty },
    ...{ eventHubName: 'hub', lastEnqueuedOffset: '', lastEnqueuedOnUtc: new Date() },
  });
  const extents = [extent('0', 10, 19), extent('1', 5, 9), extent('2', 7, 6, true)];

  async function judged(at: () => Promise<Record<string, number>>, HUB_START_POSITION = 'earliest') {
    const [hub, finding] = await tried('event endpoint', serviceOf({ HUB_START_POSITION }), {
      readExtents: async () => extents,
      storedPositions: async () => new Map(Object.entries(await at())),
    });
    expect([hub?.mark, hub?.found.replace(/newest \d+/, 'newest N'), finding?.what]).toEqual([
      'ok',
      '3 partitions with 15 events, the newest N s old; whether it has the consumer group $Default shows when the service reads',
      'checkpoints',
    ]);
    return finding as Finding;
  }

  it.each<[what: string, at: Record<string, number>, Verdict, found: RegExp]>([
    ['are not there yet', {}, 'ok', /^none yet: the service begins with the oldest event/],
    ['are at the end', { 0: 19, 1: 9, 2: 6 }, 'ok', /^0 events behind the end of 3 partitions$/],
    ['are behind', { 0: 15, 1: 8, 2: 6 }, 'ok', /^5 events behind the end of 3 partitions$/],
    ['are missing for some', { 0: 15 }, 'ok', /^4 events behind the end of 1 partitions, 2 partitions have none$/],
    ['are just before the oldest event', { 0: 9, 1: 4 }, 'ok', /^15 events behind/],
    ['are before what the hub has deleted', { 0: 6, 1: 2 }, 'warning', /deleted 5 events .* of partition 0, 1$/],
    ['are of another hub', { 0: 20, 1: 9 }, 'warning', /^beyond the end of partition 0$/],
    ['are at the end of what is empty', { 2: 6 }, 'ok', /^0 events behind/],
  ])('that %s', async (_, at, verdict, found) => {
    const finding = await judged(async () => at);
    expect([verdictOf(finding), finding.found]).toEqual([verdict, expect.stringMatching(found)]);
  });

  it('that are not there yet may begin at the end', async () =>
    expect((await judged(async () => ({}), 'latest')).found).toMatch(
      /begins with what comes from now on \(HUB_START_POSITION=latest\)$/,
    ));

  it('that cannot be read are an outage', async () =>
    expect(await judged(() => Promise.reject(new Error('no')))).toMatchObject({
      ...{ found: 'cannot be read: no', isOutage: true },
      todo: 'the check of the store says more',
    }));
});

describe('what cannot be reached, for each that is asked', () => {
  const key = 'SharedAccessKeyName=n;SharedAccessKey=a2V5';
  const client = { BACKENDS_CLIENT_ID: 'id', BACKENDS_CLIENT_SECRET: 'secret' };
  const sending = (at: string) =>
    one('service endpoint', serviceOf({ HUB_SERVICE_CONNECTION_STRING: `HostName=${at};${key}` }));
  const probes: Readonly<Record<string, (at: string) => Promise<Finding>>> = {
    HUB_EVENTS_CONNECTION_STRING: (at) =>
      one('event endpoint', serviceOf({ HUB_EVENTS_CONNECTION_STRING: `Endpoint=sb://${at}/;${key};EntityPath=hub` })),
    HUB_SERVICE_CONNECTION_STRING: sending,
    'HUB_SERVICE_CONNECTION_STRING over WebSockets': async (at) => {
      await useHubTransport({ transport: 'websockets' });
      onTestFinished(() => useHubTransport({ transport: 'amqp' }));
      return sending(at);
    },
    'HUB_SERVICE_CONNECTION_STRING of the front door': (at) =>
      one('service endpoint', frontDoorOf({ HUB_SERVICE_CONNECTION_STRING: `HostName=${at};${key}` })),
    TYPE_REGISTRY_URL: (at) => one('type registry', serviceOf({ TYPE_REGISTRY_URL: `https://${at}` })),
    BACKENDS_TOKEN_URL: (at) => one('token endpoint', serviceOf({ ...client, BACKENDS_TOKEN_URL: `https://${at}` })),
    STORE_CONNECTION_STRING: (at) => {
      const account = `DefaultEndpointsProtocol=https;AccountName=a;AccountKey=a2V5;BlobEndpoint=https://${at}/a`;
      return one('checkpoint container', serviceOf({ STORE: 'blob', STORE_CONNECTION_STRING: account }));
    },
  };

  /** A server whose certificate is of an unknown authority, or of a known one and has expired. */
  async function secured(isKnown: boolean): Promise<string> {
    const issuer = await issueCertificate({ name: 'an authority', role: 'finalAuthority' });
    const times = isKnown ? { from: Date.now() - 9 * dayMs, until: Date.now() - dayMs } : {};
    const server = createServer(await issueCertificate({ name: 'localhost', role: 'server', issuer, ...times }));
    if (isKnown) trustAlso(issuer.cert);
    return `localhost:${await portForTest(server)}`;
  }

  const causes: readonly [string, () => string | Promise<string>, Verdict, RegExp][] = [
    ['an unknown host', () => 'no-such-host.invalid', 'outage', /no such host: compare /],
    ['nobody', () => `127.0.0.1:${closedPort}`, 'outage', /nobody answers there: compare /],
    ['a certificate that is not trusted', () => secured(false), 'failure', /not trusted: NETWORK_CA_FILE/],
    ['a certificate that has expired', () => secured(true), 'failure', /certificate is out of date/],
  ];

  it.each(
    Object.entries(probes).flatMap(([setting, probe]) => causes.map((cause) => [setting, ...cause, probe] as const)),
  )('%s with %s', async (setting, _, place, verdict, todo, probe) => {
    const finding = await probe(await place());
    expect(finding.found).toContain(`(${setting.split(' ')[0]})`);
    expect([verdictOf(finding), finding.todo]).toEqual([verdict, expect.stringMatching(todo)]);
  });

  async function asking(): Promise<string> {
    const proxy = await startForTest(startConnectProxy());
    proxy.behave('asks');
    return proxy.url;
  }

  it.each<[how: string, start: () => Promise<string>, Verdict, RegExp]>([
    ['is away', async () => `http://127.0.0.1:${closedPort}`, 'outage', /^compare HTTPS_PROXY with the proxy/],
    ['asks for credentials', asking, 'failure', /asks for credentials/],
  ])('a backend with a proxy that %s', async (_, start, verdict, todo) => {
    useProxies({ https: await start(), http: '', except: '' });
    onTestFinished(() => useProxies({ https: '', http: '', except: '' }));
    const finding = await one('type registry', serviceOf({ TYPE_REGISTRY_URL: 'https://localhost:7' }));
    expect([verdictOf(finding), finding.todo]).toEqual([verdict, expect.stringMatching(todo)]);
  });

  it('too many open files are no fault of what was asked', async () => {
    const token = async () => ({ token: undefined, cause: 'too many open files: connect EMFILE' });
    const settings = serviceOf({ ...client, BACKENDS_TOKEN_URL: 'http://token' });
    expect(await one('token endpoint', settings, { token })).toMatchObject({
      found: expect.stringContaining('(ulimit -n)'),
      todo: expect.stringMatching(/^the limit is that of this process/),
    });
  });
});

describe('the container of checkpoints', () => {
  const storage = storageForAll();
  const checked = (connectionString: string) =>
    one('checkpoint container', serviceOf({ STORE: 'blob', STORE_CONNECTION_STRING: connectionString }));

  it('of an account that refuses the key is a failure, with the name of the setting', async () => {
    const finding = await checked(storage.connectionString.replace(/AccountKey=[^;]*/, 'AccountKey=d3Jvbmc='));
    expect(verdictOf(finding)).toBe('failure');
    expect(finding.found).toContain('STORE_CONNECTION_STRING');
    expect(finding.todo).toContain('the connection string');
  });

  it('of an account that is away is out', async () =>
    expect(verdictOf(await checked(storage.at(closedPort)))).toBe('outage'));
});

describe('a misconfiguration is told with its cause and its setting', () => {
  const twoHoursMs = 2 * 60 * 60_000;
  const hubError = (code: string, message: string) => Object.assign(new Error(message), { code });
  const reading = (error: Error) => tried('event endpoint', serviceOf(), { readExtents: () => Promise.reject(error) });
  const blobs = serviceOf({ STORE: 'blob', STORE_CONNECTION_STRING: 'UseDevelopmentStorage=true' });
  const storing = (...answer: [status: number, code: string, date?: string]) => {
    const tryContainer = () => Promise.reject(new StorageError('the container: creating a blob', ...answer));
    return tried('checkpoint container', blobs, { tryContainer });
  };
  const away = `http://127.0.0.1:${closedPort}`;
  const told = (ms: number) => new Date(Date.now() + ms).toISOString().slice(0, 19);

  it.each<[what: string, found: () => Promise<readonly Finding[]>, says: RegExp, verdict?: Verdict]>([
    [
      'a wrong key',
      () => reading(hubError('UnauthorizedError', 'Invalid signature')),
      /\(HUB_EVENTS_CONNECTION_STRING\) → SharedAccessKeyName and SharedAccessKey must be those of a policy/,
    ],
    [
      'the key of another hub’s name',
      () => reading(hubError('MessagingEntityNotFoundError', 'not found')),
      /\(HUB_EVENTS_CONNECTION_STRING\) → EntityPath must be the Event Hub-compatible name/,
    ],
    [
      'no container',
      () => storing(404, 'ContainerNotFound'),
      /404 ContainerNotFound \(CHECKPOINTS_CONTAINER\) → create this container, or give the connection string the right/,
    ],
    [
      'no right on the container',
      () => storing(403, 'AuthorizationPermissionMismatch'),
      /403 .*\(STORE_CONNECTION_STRING\) → the connection string must allow to list, read, write and delete blobs/,
    ],
    [
      'the key of another account',
      () => storing(403, 'AuthenticationFailed', new Date().toUTCString()),
      /403 .*\(STORE_CONNECTION_STRING\) → AccountKey must be that of AccountName/,
    ],
    [
      'a clock two hours behind, by the refusal of the account',
      () => storing(403, 'AuthenticationFailed', new Date(Date.now() + twoHoursMs).toUTCString()),
      /→ synchronise the clock of this machine \(NTP\): it is (7199|7200) s behind theirs/,
    ],
    [
      'a clock two hours ahead, by the refusal of the hub',
      () => reading(hubError('UnauthorizedError', `refused. Timestamp:${told(-twoHoursMs)}`)),
      /→ synchronise the clock of this machine \(NTP\): it is 720[01] s ahead of theirs/,
    ],
    [
      'a clock two hours behind, by those of others',
      async () => {
        const date = new Date(Date.now() + twoHoursMs).toUTCString();
        const url = await serve((_, response) => void response.setHeader('date', date).end());
        const nowhere = { INFORMATION_MODEL_URL: away, PRINCIPAL_MANAGER_URL: away };
        const hub = 'HostName=127.0.0.1:1;SharedAccessKeyName=n;SharedAccessKey=k';
        const settings = { ...nowhere, TYPE_REGISTRY_URL: url, HUB_SERVICE_CONNECTION_STRING: hub };
        return tried('clock', serviceOf(settings));
      },
      /this machine is (7199|7200) s behind all 1 .* → synchronise the clock/,
    ],
    [
      'a folder that cannot be made',
      () => tried('disk', serviceOf({ DATA_DIRECTORY: 'package.json/data' })),
      /package\.json\/data.* cannot be used .* set DATA_DIRECTORY to a folder → the service does not start without it/,
    ],
    [
      'too little memory',
      () => tried('memory', serviceOf(), { machineLimits: () => ({ memory: 256 * mebibyte, files: 20_000 }) }),
      /256 MB, of which it may come to need \d+ MB → raise the limit .*, or lower DELIVERY_MAX_BYTES/,
      'warning',
    ],
  ])('%s', async (_, found, says, verdict = 'failure') => {
    for (const finding of await found()) {
      expect(`${finding.found} → ${finding.todo}`).toMatch(says);
      expect(verdictOf(finding)).toBe(verdict);
    }
    expect.assertions(2 * (await found()).length);
  });

  it('but a wrong consumer group, which shows when the service reads', () =>
    expect(diagnoseReading(hubError('MessagingEntityNotFoundError', 'not found'), 'reading')).toMatchObject({
      setting: 'HUB_CONSUMER_GROUP',
      todo: expect.stringMatching(/^create this consumer group at the hub, or name one that is there/),
    }));
});

describe('the machine', () => {
  const plenty = { memory: 1024 * mebibyte, files: 20_000 };
  const onMachine = async (machine: ReturnType<Openers['machineLimits']>, settings: Parameters<typeof tried>[1]) => {
    const asked = ['memory', 'open files'].map((name) => one(name, settings, { machineLimits: () => machine }));
    return (await Promise.all(asked)).map(({ mark }) => mark);
  };

  it.each([
    ['that of the first deployment', plenty, ['ok', 'ok']],
    ['too little memory', { ...plenty, memory: 256 * mebibyte }, ['warning', 'ok']],
    ['too few files', { ...plenty, files: 256 }, ['ok', 'warning']],
    ['an operating system that does not say', { ...plenty, files: undefined }, ['ok', 'ok']],
  ])('%s is judged by the defaults', async (_, machine, expected) => {
    for (const settings of [serviceOf(), frontDoorOf()]) expect(await onMachine(machine, settings)).toEqual(expected);
  });

  it('needs more memory for more bodies in flight', async () =>
    expect(await onMachine(plenty, serviceOf({ DELIVERY_MAX_BYTES: `${2 ** 30}` }))).toEqual(['warning', 'ok']));

  it.each([
    ['base', serviceMemory],
    ['front-door', methodsMemory],
  ] as const)('as deploy/kubernetes/%s limits the containers suffices for the defaults', (folder, parts) => {
    const manifest = readFileSync(`deploy/kubernetes/${folder}/deployment.yaml`, 'utf8');
    const limits = [...manifest.matchAll(/limits: \{ memory: (\d+)(Mi|Gi) \}/g)];
    expect(limits.length).toBe(2);
    for (const [, size, unit] of limits) {
      const memory = Number(size) * (unit === 'Gi' ? 1024 : 1) * mebibyte;
      expect(memory).toBeGreaterThan(memoryNeeded<typeof settings>(parts, settings));
    }
  });

  it('is told what the process may hold as a sum', async () => {
    const needed = memoryNeeded(serviceMemory, settings) / mebibyte;
    const { found } = await one('memory', settings, { machineLimits: () => plenty });
    expect(found).toBe(`1024 MB, of which it may come to need ${Math.ceil(needed)} MB`);
    const more = { ...settings, backends: { ...settings.backends, connections: 2 * settings.backends.connections } };
    expect(memoryNeeded(serviceMemory, more) / mebibyte).toBe(needed + 48);
  });

  it('has limits here', () => {
    const { memory, files = 1 } = openersOf(settings).machineLimits();
    expect([memory > mebibyte, files > 0]).toEqual([true, true]);
  });
});

describe('clocks', () => {
  const hub = (aheadMs: number) => ({ name: 'hub', aheadMs });
  const store = (aheadMs: number) => ({ name: 'store', aheadMs });

  it.each([
    ['that agree', [hub(800), store(-900)], 'ok', /hub, store/],
    ['of which ours is ahead of all', [hub(-20_000), store(-21_000)], 'warning', /20 s ahead of all 2/],
    ['of which ours is far behind', [hub(600_000), store(601_000)], 'failure', /600 s behind all 2/],
    ['of which ours is far ahead', [hub(-600_000), store(-601_000)], 'failure', /600 s ahead of all 2/],
    ['of which another is astray', [hub(100), store(90_000)], 'warning', /the store is 90 s ahead/],
    ['that nobody tells', [], 'warning', /nobody tells the time/],
  ] as const)('%s are judged by the nearest', async (_, readings, verdict, says) => {
    const finding = await one('clock', settings, { times: async () => [...readings] });
    expect([verdictOf(finding), finding.found]).toEqual([verdict, expect.stringMatching(says)]);
  });
});

describe('the settings', () => {
  it('that are wrong are one failure for each problem', () => {
    const { settings, findings } = checkSettings(() => {
      throw new ConfigurationError(['one', 'two']);
    }, {});
    expect(settings).toBeUndefined();
    expect(findings.map((one) => `${verdictOf(one)} ${one.found}`)).toEqual(['failure one', 'failure two']);
  });

  it('that are right are well, and a variable that is none of them, or a proxy that is not used, is worth a look', () => {
    const env = { NODE_ENV: 'none', HUB_HOSTNAME: 'x', ALL_PROXY: 'http://proxy' };
    const { settings, findings } = checkSettings(() => ({ read: true }), env);
    expect(settings).toEqual({ read: true });
    const told = findings.map((one) => `${verdictOf(one)} ${one.found.split(' ')[0]}`);
    expect(told).toEqual(['ok all', 'warning HUB_HOSTNAME', 'warning ALL_PROXY']);
  });

  it('whose reading fails otherwise are no finding: the error stays', () => {
    const failing = () => {
      throw new TypeError('a defect');
    };
    expect(() => checkSettings(failing, {})).toThrow('a defect');
  });
});
