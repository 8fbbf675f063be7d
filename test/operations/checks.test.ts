import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { createServer } from 'node:tls';
import type { Finding } from '@device-messaging/telemetry/check.ts';
import { useProxies } from '@device-messaging/telemetry/outbound.ts';
import { trustAlso } from '@device-messaging/telemetry/trust.ts';
import { issueCertificate } from 'iot-hub-emulator/testing';
import { describe, expect, it, onTestFinished } from 'vitest';
import { startForTest } from '../../iot-hub-emulator/test/support/fixtures.ts';
import { useHubTransport } from '../../src/hub/hubTransport.ts';
import type { SendRefusal } from '../../src/hub/replies/sendFailure.ts';
import { cureHubSdks } from '../../src/hub/sdkCures.ts';
import { errors } from '../../src/hub/serviceSdk.ts';
import { checkBackends } from '../../src/operations/checkBackends.ts';
import { checkSettings } from '../../src/operations/checkDeployment.ts';
import {
  checkEvents,
  checkInvoking,
  checkSending,
  invokingFindingOf,
  lagFindingOf,
  sendingFailureOf,
  sendingFindingOf,
} from '../../src/operations/checkHub.ts';
import { checkContainer } from '../../src/operations/checkStores.ts';
import { unanswered } from '../../src/operations/failed.ts';
import type { MethodFailure } from '../../src/protocol/vocabulary.ts';
import { ConfigurationError, readMethodsSettings } from '../../src/settings/config.ts';
import { serve } from '../backends/harness.ts';
import { startConnectProxy } from '../support/connectProxy.ts';
import { bearerToken, settingsWith } from '../support/environment.ts';
import { storageForAll } from '../support/storageAccount.ts';

// What each answer, or none, means for a deployment: a wrong setting or credential is a failure, and another machine that is
// away for now an outage, which stops no init container.

cureHubSdks();

type Verdict = 'ok' | 'warning' | 'failure' | 'outage';

const verdictOf = ({ mark, isOutage = false }: Finding): Verdict => (isOutage && mark === 'failure' ? 'outage' : mark);

/** What all these mean. */
const all = <T>(verdict: Verdict, ...answers: T[]) => answers.map((answer): [T, Verdict] => [answer, verdict]);

const dayMs = 24 * 60 * 60_000;
const of = (environment: Readonly<Record<string, string>>) =>
  settingsWith({ BACKENDS_TOKEN: bearerToken, ...environment });
const methodsOf = (environment: Readonly<Record<string, string>>) =>
  readMethodsSettings(
    {
      ...{ BACKENDS_TOKEN: bearerToken, INFORMATION_MODEL_URL: 'http://im', TYPE_REGISTRY_URL: 'http://tr' },
      ...environment,
    },
    'no-such-directory',
  );

/** A port at which nobody listens. */
const closedPort = 1;

describe('a backend', () => {
  const checked = async (url: string) => {
    const settings = of({ TYPE_REGISTRY_URL: url });
    const [finding, ...more] = await checkBackends(settings, { typeRegistry: url });
    expect([finding?.what, more]).toEqual(['type registry', []]);
    return finding as Finding;
  };

  it.each([
    ...all('ok', 200, 403),
    ...all('failure', 401),
    ...all('warning', 301, 400, 404, 405),
    ...all('outage', 429, 500, 502, 503, 504),
  ])('that answers HTTP %i to a harmless question: %s', async (status, verdict) => {
    const url = await serve((_, response) => void response.writeHead(status).end('{}'));
    const finding = await checked(url);
    expect([verdictOf(finding), finding.todo === undefined]).toEqual([verdict, verdict === 'ok']);
    expect(finding.found).toContain(`HTTP ${status}`);
    if (verdict !== 'ok') expect(finding.found).toContain('TYPE_REGISTRY_URL');
    if (status === 401) expect(finding.todo).toContain('BACKENDS_TOKEN');
    expect(/accepts the token/.test(finding.found)).toBe(status === 200);
  });

  it.each([
    ['is away', () => Promise.resolve(`http://127.0.0.1:${closedPort}`)],
    ['hangs up', () => serve((request) => void request.socket.destroy())],
  ])('that %s is out', async (_, start) => expect(verdictOf(await checked(await start()))).toBe('outage'));
});

describe('the token endpoint', () => {
  const refused = ([status, verdict]: [number, Verdict]): [number, string, Verdict] => [status, '{}', verdict];
  const token = JSON.stringify({ access_token: 'a-token', expires_in: 300 });

  it.each<[status: number, body: string, Verdict]>([
    [200, token, 'ok'],
    [200, '<html>', 'failure'],
    ...all('failure', 400, 401, 403, 404).map(refused),
    ...all('outage', 408, 429, 500, 503).map(refused),
  ])('that answers HTTP %i with %s: %s', async (status, body, verdict) => {
    const asked: (string | undefined)[] = [];
    const url = await serve((request, response) => {
      if (request.method === 'POST') response.writeHead(status).end(body);
      else {
        asked.push(request.headers.authorization);
        response.writeHead(200).end('{}');
      }
    });
    const client = { BACKENDS_TOKEN_URL: `${url}/token`, BACKENDS_CLIENT_ID: 'id', BACKENDS_CLIENT_SECRET: 'secret' };
    const findings = await checkBackends(settingsWith(client), { informationModel: url });
    const isOk = verdict === 'ok';
    expect(findings.map((one) => [one.what, verdictOf(one)])).toEqual([
      ['token endpoint', verdict],
      ...(isOk ? [['information model', 'ok']] : []),
    ]);
    expect(asked).toEqual(isOk ? ['Bearer a-token'] : []);
    expect(JSON.stringify(findings)).not.toContain('a-token');
  });

  it('that is away is out', async () => {
    const url = `http://127.0.0.1:${closedPort}/token`;
    const client = { BACKENDS_TOKEN_URL: url, BACKENDS_CLIENT_ID: 'id', BACKENDS_CLIENT_SECRET: 'secret' };
    const findings = await checkBackends(settingsWith(client), { informationModel: url });
    expect(findings.map(verdictOf)).toEqual(['outage']);
  });
});

describe('the hub', () => {
  const failed = (reason: MethodFailure, more: object = {}) => ({ kind: 'failure', failure: reason, ...more }) as const;

  it.each([
    ...all<MethodFailure>('ok', 'device_unknown', 'device_offline'),
    ...all<MethodFailure>('failure', 'refused'),
    ...all<MethodFailure>('outage', 'throttled', 'quota', 'unavailable', 'outcome_unknown', 'no_reply', 'bad_reply'),
  ])('that answers a method of no device by %s: %s', (reason, verdict) => {
    for (const [isByKey, setting] of [
      [true, 'HUB_SERVICE_CONNECTION_STRING'],
      [false, 'HUB_HOST_NAME'],
    ] as const) {
      const finding = invokingFindingOf(failed(reason, { status: 403, code: 403002 }), isByKey);
      expect(verdictOf(finding)).toBe(verdict);
      if (verdict !== 'ok') expect(finding.found).toMatch(new RegExp(`403 403002 \\(${setting}\\)$`));
    }
  });

  it('that does not answer, or answers for a device, is out or well', () => {
    expect(invokingFindingOf(failed('unavailable'), true).found).toBe('no answer (HUB_SERVICE_CONNECTION_STRING)');
    const response = { kind: 'response', status: 200, payload: {}, text: '{}' } as const;
    expect(verdictOf(invokingFindingOf(response, true))).toBe('ok');
  });

  it('that takes a message, or knows no such device, is well; one that refuses it for now is worth a look', () => {
    const finding = (kind: SendRefusal['kind'], reason: SendRefusal['reason']) =>
      verdictOf(sendingFindingOf({ kind, reason }));
    expect(verdictOf(sendingFindingOf(undefined))).toBe('ok');
    expect(finding('never', 'unknown_device')).toBe('ok');
    for (const reason of ['throttled', 'not_taken'] as const) expect(finding('later', reason)).toBe('warning');
    for (const reason of ['quota', 'suspended'] as const) expect(finding('hub', reason)).toBe('warning');
  });

  it.each<[what: string, error: Error, Verdict]>([
    ['refuses the key', new errors.UnauthorizedError('no'), 'failure'],
    ['is no hub', new errors.DeviceNotFoundError('no such hub'), 'failure'],
    ['is away', new errors.NotConnectedError('down'), 'outage'],
    ['has failed', new errors.InternalServerError('failed'), 'outage'],
  ])('that %s: the answer may stand in the error of the connection', (_, error, verdict) => {
    const wrapped = Object.assign(new errors.NotConnectedError('cannot connect'), { amqpError: error });
    for (const one of [error, wrapped]) {
      const { found, todo, ...finding } = sendingFailureOf(one, false);
      expect([verdictOf({ found, ...finding }), todo !== undefined]).toEqual([verdict, true]);
      expect(found).toBe(`${error.message} (HUB_SERVICE_CONNECTION_STRING)`);
      expect(sendingFailureOf(one, true).found).toBe(`${error.message} (HUB_HOST_NAME)`);
    }
  });
});

describe('checkpoints', () => {
  const extent = (partitionId: string, first: number, last: number, isEmpty = false) => ({
    partitionId,
    beginningSequenceNumber: first,
    lastEnqueuedSequenceNumber: last,
    isEmpty,
  });
  const extents = [extent('0', 10, 19), extent('1', 5, 9), extent('2', 7, 6, true)];
  const judged = (at: Record<string, number>, startPosition: 'earliest' | 'latest' = 'earliest') =>
    lagFindingOf(extents, new Map(Object.entries(at)), startPosition);

  it.each<[what: string, at: Record<string, number>, Verdict, found: RegExp]>([
    ['are not there yet', {}, 'ok', /^none yet: the service begins with the oldest event/],
    ['are at the end', { 0: 19, 1: 9, 2: 6 }, 'ok', /^0 events behind the end of 3 partitions$/],
    ['are behind', { 0: 15, 1: 8, 2: 6 }, 'ok', /^5 events behind the end of 3 partitions$/],
    ['are missing for some', { 0: 15 }, 'ok', /^4 events behind the end of 1 partitions, 2 partitions have none$/],
    ['are just before the oldest event', { 0: 9, 1: 4 }, 'ok', /^15 events behind/],
    ['are before what the hub has deleted', { 0: 6, 1: 2 }, 'warning', /deleted 5 events .* of partition 0, 1$/],
    ['are of another hub', { 0: 20, 1: 9 }, 'warning', /^beyond the end of partition 0$/],
    ['are at the end of what is empty', { 2: 6 }, 'ok', /^0 events behind/],
  ])('that %s', (_, at, verdict, found) => {
    const finding = judged(at);
    expect([verdictOf(finding), finding.found]).toEqual([verdict, expect.stringMatching(found)]);
  });

  it('that are not there yet may begin at the end', () =>
    expect(judged({}, 'latest').found).toMatch(/begins with what comes from now on \(HUB_START_POSITION=latest\)$/));
});

describe('what cannot be reached, for each that is asked', () => {
  const key = 'SharedAccessKeyName=n;SharedAccessKey=a2V5';
  const client = { BACKENDS_CLIENT_ID: 'id', BACKENDS_CLIENT_SECRET: 'secret' };
  const probes: Readonly<Record<string, (at: string) => Promise<readonly Finding[]>>> = {
    HUB_EVENTS_CONNECTION_STRING: (at) =>
      checkEvents(of({ HUB_EVENTS_CONNECTION_STRING: `Endpoint=sb://${at}/;${key};EntityPath=hub` })),
    HUB_SERVICE_CONNECTION_STRING: (at) => checkSending(of({ HUB_SERVICE_CONNECTION_STRING: `HostName=${at};${key}` })),
    'HUB_SERVICE_CONNECTION_STRING over WebSockets': async (at) => {
      await useHubTransport({ transport: 'websockets' });
      onTestFinished(() => useHubTransport({ transport: 'amqp' }));
      return checkSending(of({ HUB_SERVICE_CONNECTION_STRING: `HostName=${at};${key}` }));
    },
    'HUB_SERVICE_CONNECTION_STRING of the front door': (at) =>
      checkInvoking(methodsOf({ HUB_SERVICE_CONNECTION_STRING: `HostName=${at};${key}` })),
    TYPE_REGISTRY_URL: (at) => checkBackends(of({}), { typeRegistry: `https://${at}` }),
    BACKENDS_TOKEN_URL: (at) =>
      checkBackends(settingsWith({ ...client, BACKENDS_TOKEN_URL: `https://${at}` }), { typeRegistry: '' }),
    STORE_CONNECTION_STRING: (at) => {
      const account = `DefaultEndpointsProtocol=https;AccountName=a;AccountKey=a2V5;BlobEndpoint=https://${at}/a`;
      return checkContainer('c', 'checkpoints', of({ STORE: 'blob', STORE_CONNECTION_STRING: account }));
    },
  };

  /** A server whose certificate is of an unknown authority, or of a known one and has expired. */
  async function secured(isKnown: boolean): Promise<string> {
    const issuer = await issueCertificate({ name: 'an authority', role: 'finalAuthority' });
    const times = isKnown ? { from: Date.now() - 9 * dayMs, until: Date.now() - dayMs } : {};
    const server = createServer(await issueCertificate({ name: 'localhost', role: 'server', issuer, ...times }));
    if (isKnown) trustAlso(issuer.cert);
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    onTestFinished(() => void server.close());
    return `localhost:${(server.address() as AddressInfo).port}`;
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
    const [finding] = await probe(await place());
    expect(finding).toMatchObject({ found: expect.stringContaining(`(${setting.split(' ')[0]})`) });
    expect([finding && verdictOf(finding), finding?.todo]).toEqual([verdict, expect.stringMatching(todo)]);
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
    const [finding] = await (probes['TYPE_REGISTRY_URL']?.('localhost:7') ?? []);
    expect([finding && verdictOf(finding), finding?.todo]).toEqual([verdict, expect.stringMatching(todo)]);
  });
});

it('too many open files are no fault of what was asked', () =>
  expect(unanswered('a backend', 'too many open files: connect EMFILE', 'TYPE_REGISTRY_URL')).toMatchObject({
    found: expect.stringContaining('(ulimit -n)'),
    todo: expect.stringMatching(/^the limit is that of this process/),
  }));

describe('the container of checkpoints', () => {
  const storage = storageForAll();
  const checked = (connectionString: string, CHECKPOINTS_CONTAINER = 'tried') =>
    checkContainer(
      'checkpoints',
      'checkpoints',
      settingsWith({
        ...{ BACKENDS_TOKEN: bearerToken, STORE: 'blob', STORE_CONNECTION_STRING: connectionString },
        CHECKPOINTS_CONTAINER,
      }),
    );

  it('of an account that refuses the key is a failure, with the name of the setting', async () => {
    const wrong = storage.connectionString.replace(/AccountKey=[^;]*/, 'AccountKey=d3Jvbmc=');
    const [finding] = await checked(wrong);
    expect(finding && verdictOf(finding)).toBe('failure');
    expect(finding?.found).toContain('STORE_CONNECTION_STRING');
    expect(finding?.todo).toContain('the connection string');
  });

  it('of an account that is away is out', async () =>
    expect((await checked(storage.at(closedPort))).map(verdictOf)).toEqual(['outage']));
});

describe('the settings', () => {
  it('that are wrong are one failure for each problem', () => {
    const { settings, findings } = checkSettings(() => {
      throw new ConfigurationError(['one', 'two']);
    }, {});
    expect([settings, findings.map((one) => [verdictOf(one), one.found])]).toEqual([
      undefined,
      [
        ['failure', 'one'],
        ['failure', 'two'],
      ],
    ]);
  });

  it('that are right are well, and a variable that is none of them, or a proxy that is not used, is worth a look', () => {
    const env = { NODE_ENV: 'none', HUB_HOSTNAME: 'x', ALL_PROXY: 'http://proxy' };
    const { settings, findings } = checkSettings(() => ({ read: true }), env);
    expect(settings).toEqual({ read: true });
    expect(findings.map((one) => [verdictOf(one), one.found.split(' ')[0]])).toEqual([
      ['ok', 'all'],
      ['warning', 'HUB_HOSTNAME'],
      ['warning', 'ALL_PROXY'],
    ]);
  });

  it('whose reading fails otherwise are no finding: the error stays', () => {
    const failing = () => {
      throw new TypeError('a defect');
    };
    expect(() => checkSettings(failing, {})).toThrow('a defect');
  });
});
