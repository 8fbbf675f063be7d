import { once } from 'node:events';
import { createServer as createHttpsServer } from 'node:https';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';
import { ensureCertificates } from 'iot-hub-emulator/testing';
import type { Finding } from 'telemetry/check/finding.ts';
import { describe, expect, it, onTestFinished } from 'vitest';
import { folderForAll } from '../../iot-hub-emulator/test/support/fixtures.ts';
import { checkBackends } from '../../src/check/checkBackends.ts';
import { lagFindingOf } from '../../src/check/checkEvents.ts';
import { invokingFindingOf } from '../../src/check/checkInvoking.ts';
import { checkNetwork } from '../../src/check/checkNetwork.ts';
import { sendingFailureOf, sendingFindingOf } from '../../src/check/checkSending.ts';
import { checkSettings } from '../../src/check/checkSettings.ts';
import { checkContainer } from '../../src/check/checkStores.ts';
import type { SendRefusal } from '../../src/hub/replies/sendFailure.ts';
import { errors } from '../../src/hub/replies/serviceSdk.ts';
import type { MethodFailure } from '../../src/protocol/methodFailures.ts';
import { ConfigurationError } from '../../src/settings/config.ts';
import { serve } from '../backends/harness.ts';
import { bearerToken, settingsWith } from '../support/environment.ts';
import { storageForAll } from '../support/storageAccount.ts';

// What each answer, or none, means for a deployment: a wrong setting or credential is a failure, and another machine that is
// away for now an outage, which stops no init container.

type Verdict = 'ok' | 'warning' | 'failure' | 'outage';

const verdictOf = ({ mark, isOutage = false }: Finding): Verdict => (isOutage && mark === 'failure' ? 'outage' : mark);

/** What all these mean. */
const all = <T>(verdict: Verdict, ...answers: T[]) => answers.map((answer): [T, Verdict] => [answer, verdict]);

/** A port at which nobody listens. */
const closedPort = 1;

describe('a backend', () => {
  const checked = async (url: string) => {
    const settings = settingsWith({ BACKENDS_TOKEN: bearerToken, TYPE_REGISTRY_URL: url });
    const [finding, ...more] = await checkBackends(settings, { typeRegistry: [url, 'TYPE_REGISTRY_URL'] });
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
    const findings = await checkBackends(settingsWith(client), { informationModel: [url, 'INFORMATION_MODEL_URL'] });
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
    const findings = await checkBackends(settingsWith(client), { informationModel: [url, 'INFORMATION_MODEL_URL'] });
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
  const extent = (partition: string, first: number, last: number, isEmpty = false) => ({
    ...{ partition, first, last, isEmpty, lastAt: new Date(0) },
  });
  const extents = [extent('0', 10, 19), extent('1', 5, 9), extent('2', 7, 6, true)];
  const judged = (at: Record<string, number>, startPosition: 'earliest' | 'latest' = 'earliest') =>
    lagFindingOf(extents, new Map(Object.entries(at)), { startPosition });

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

describe('an address', () => {
  const directory = folderForAll('checks');
  const to = (port: number, isEncrypted: boolean) => ({
    ...{ name: 'service endpoint', host: '127.0.0.1', port, isEncrypted, setting: 'HUB_HOST_NAME', url: undefined },
  });

  async function listening(server: ReturnType<typeof createServer>): Promise<number> {
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    onTestFinished(() => void server.close());
    return (server.address() as AddressInfo).port;
  }

  it('without TLS is reached when it accepts connections', async () => {
    const port = await listening(createServer((socket) => void socket.destroy()));
    expect((await checkNetwork(to(port, false), 'network')).map(verdictOf)).toEqual(['ok']);
  });

  it.each([false, true])('that accepts no connection is out (with TLS: %s)', async (isEncrypted) => {
    const [finding] = await checkNetwork(to(closedPort, isEncrypted), 'network');
    expect([finding && verdictOf(finding), finding?.found]).toEqual(['outage', '127.0.0.1:1: ECONNREFUSED']);
    expect(finding?.todo).toContain('HUB_HOST_NAME');
  });

  it('that hangs up is out', async () => {
    const port = await listening(createServer((socket) => void socket.destroy()));
    expect((await checkNetwork(to(port, true), 'network')).map(verdictOf)).toEqual(['outage']);
  });

  it('whose certificate is of an unknown authority is a failure', async () => {
    const { cert, key } = await ensureCertificates(join(directory, 'hub'));
    const port = await listening(createHttpsServer({ cert, key }));
    const [finding] = await checkNetwork(to(port, true), 'network');
    expect(finding && verdictOf(finding)).toBe('failure');
    expect(finding?.found).toMatch(/CERT|ISSUER|SIGNATURE/);
  });
});

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
