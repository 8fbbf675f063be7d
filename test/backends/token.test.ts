import type { AxiosAdapter } from 'axios';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { NoToken, type ScopedTokens } from '../../src/access/identity.ts';
import { createBackends } from '../../src/backends/backends.ts';
import { clientCredentials, NoAccessToken, staticToken } from '../../src/backends/tokens.ts';
import { TransportFailure } from '../../src/backends/transport.ts';
import { createTroubles } from '../../src/observing/log.ts';
import { createMeter, type Meter } from '../../src/observing/metrics.ts';
import { readingOf, recordingLog } from '../support/observed.ts';
import { withFakeTimers } from '../support/waiting.ts';
import { callOf, serve, settings } from './harness.ts';

const secret = 's3cret/value';

interface Asked {
  readonly method: string | undefined;
  readonly url: string | undefined;
  readonly headers: object;
  readonly form: Record<string, string>;
}

/** A token source over an endpoint that gives these answers in turn; each is awaited, so a test can hold it back. */
function source(
  answers: ([number, unknown] | Promise<[number, unknown]> | TransportFailure)[],
  changes: Partial<Parameters<typeof clientCredentials>[0]> = {},
  meter?: Meter,
) {
  const asked: Asked[] = [];
  const log = recordingLog();
  const adapter: AxiosAdapter = async (config) => {
    const { method, url, headers, data } = config;
    asked.push({ method, url, headers: { ...headers }, form: Object.fromEntries(new URLSearchParams(data)) });
    const answer = await answers[asked.length - 1];
    if (answer === undefined) throw new Error('one request too many');
    if (answer instanceof TransportFailure) throw answer;
    const [status, body] = answer;
    const text = typeof body === 'string' ? body : JSON.stringify(body);
    return { status, statusText: '', headers: {}, data: Buffer.from(text), config };
  };
  const tokenUrl = 'https://login.invalid/tenant/oauth2/token?v=2';
  const settings = { tokenUrl, clientId: 'id', clientSecret: secret, tokenScope: '', ...changes };
  const tokens = clientCredentials(settings, createTroubles(log), meter, adapter);
  return { tokens, asked, log };
}

const issued = (name: string, seconds = 100): [number, unknown] => [200, { access_token: name, expires_in: seconds }];

it('a static token is available at once and stays the same', async () => {
  const tokens = staticToken('t');
  expect([tokens.token(), await tokens.renew('t')]).toEqual(['t', 't']);
});

describe('client credentials', () => {
  withFakeTimers();

  it('are exchanged for a token with one form post', async () => {
    const { tokens, asked } = source([issued('t1')], { tokenScope: 'backends/.default' });
    expect(await tokens.token()).toBe('t1');
    expect(asked).toEqual([
      {
        method: 'post',
        url: '/tenant/oauth2/token?v=2',
        headers: { accept: 'application/json', 'content-type': 'application/x-www-form-urlencoded' },
        form: { grant_type: 'client_credentials', client_id: 'id', client_secret: secret, scope: 'backends/.default' },
      },
    ]);
  });

  it('are sent once for any number of concurrent calls', async () => {
    const { tokens, asked } = source([issued('t1')]);
    expect(await Promise.all([tokens.token(), tokens.token(), tokens.renew('old')])).toEqual(['t1', 't1', 't1']);
    expect(asked.length).toBe(1);
    expect(asked[0]?.form).not.toHaveProperty('scope');
  });

  it('that fail in the background are retried a little later', async () => {
    const { tokens, asked, log } = source([issued('t1'), [503, ''], issued('t2')]);
    await tokens.token();
    await vi.advanceTimersByTimeAsync(80_000);
    for (let i = 0; i < 3; i += 1) {
      expect(tokens.token()).toBe('t1');
      await vi.advanceTimersByTimeAsync(0);
    }
    expect(asked.length).toBe(2);
    await vi.advanceTimersByTimeAsync(5000);
    expect(tokens.token()).toBe('t1');
    await vi.advanceTimersByTimeAsync(0);
    expect(tokens.token()).toBe('t2');
    expect(log.lines).toEqual([
      {
        level: 'warn',
        fields: { cause: 'the token endpoint answered with HTTP 503' },
        message: 'no access token for the backends',
      },
      { level: 'info', fields: { times: 1, forSeconds: 5 }, message: 'there is an access token for the backends' },
    ]);
  });

  it.each([
    ['that tells no lifetime', undefined, 300],
    ['whose lifetime is text', '100', 100],
  ])(
    'give a token %s: it is used for its lifetime, and replaced after four fifths of it',
    async (_, expires_in, seconds) => {
      const { tokens, asked } = source([[200, { access_token: 't1', expires_in }], [503, ''], issued('t2')]);
      await tokens.token();
      vi.advanceTimersByTime(seconds * 800 - 1);
      expect([tokens.token(), asked.length]).toEqual(['t1', 1]);
      await vi.advanceTimersByTimeAsync(1);
      expect(tokens.token()).toBe('t1');
      await vi.advanceTimersByTimeAsync(0);
      expect(asked).toHaveLength(2);
      await vi.advanceTimersByTimeAsync(seconds * 200 - 1);
      expect(tokens.token()).toBe('t1');
      await vi.advanceTimersByTimeAsync(1);
      expect(await tokens.token()).toBe('t2');
    },
  );

  it('are sent at once when a backend refuses the token, unless there is a new one already', async () => {
    const { tokens, asked } = source([issued('t1'), issued('t2')]);
    await tokens.token();
    expect(await tokens.renew('t1')).toBe('t2');
    expect(await tokens.renew('t1')).toBe('t2');
    expect(asked.length).toBe(2);
  });

  /** A secret in a file, which by now has another one. */
  const changed = {
    current: () => secret,
    renew: async (refused: string) => (refused === secret ? 'another secret' : refused),
    onChange: () => () => {},
  };

  it.each([[400], [401]])(
    'that are refused with HTTP %i are sent again with another secret, as a repeat',
    async (status) => {
      const meter = createMeter();
      const { tokens, asked, log } = source([[status, {}], issued('t1')], { clientSecret: changed }, meter);
      expect(await tokens.token()).toBe('t1');
      expect(asked.map(({ form }) => form['client_secret'])).toEqual([secret, 'another secret']);
      expect(readingOf(meter, 'device_messaging.backend.retries')).toEqual({ tokenEndpoint: 1 });
      expect(readingOf(meter, 'http.client.request.duration')).toEqual({
        [`tokenEndpoint fetch token POST ${status}`]: 1,
        'tokenEndpoint fetch token POST 200': 1,
      });
      expect(log.lines).toEqual([]);
    },
  );

  it.each([
    ['the same secret', 401, secret],
    ['another status than that of a refusal', 403, changed],
  ])('are sent once when there is %s', async (_, status, clientSecret) => {
    const { tokens, asked } = source([[status, {}], issued('t1')], { clientSecret });
    await expect(tokens.token()).rejects.toBeInstanceOf(NoAccessToken);
    expect(asked).toHaveLength(1);
  });

  it.each([
    ['a refusal', [401, { error: 'invalid_client', error_description: secret }], 'HTTP 401'],
    ['no JSON', [200, `token=${secret}`], 'unreadable answer'],
    ['no token', [200, { token_type: 'Bearer' }], 'unreadable answer'],
    ['a token that has no life', [200, { access_token: 't1', expires_in: 0 }], 'unreadable answer'],
    ['a token that fits no header', [200, { access_token: 'a\nb' }], 'unreadable answer'],
    ['no connection', new TransportFailure('connection refused', false), 'connection refused'],
  ] as [string, [number, unknown] | TransportFailure, string][])(
    'that get %s fail without revealing the secret',
    async (_, answer, why) => {
      const { tokens, log } = source([answer]);
      const failure = await Promise.resolve(tokens.token()).catch((error: unknown) => error);
      expect(failure).toBeInstanceOf(NoAccessToken);
      expect(`${JSON.stringify(log.lines)} ${(failure as Error).stack} ${(failure as Error).cause}`).not.toContain(
        secret,
      );
      expect(log.lines[0]?.fields['cause']).toBe(why.replace('HTTP', 'the token endpoint answered with HTTP'));
      expect(tokens.state()).toMatchObject({ outage: { failure: why }, connections: { inUse: 0, waiting: 0 } });
    },
  );

  it('that are not even sent are no longer under way', async () => {
    const { tokens } = source([]);
    await expect(tokens.token()).rejects.toBeInstanceOf(NoAccessToken);
    expect(tokens.state()).toMatchObject({ connections: { inUse: 0 }, oldestMs: 0 });
  });
});

it('over HTTP, a token that a backend no longer accepts is renewed once and the call repeated, without a log line', async () => {
  let count = 0;
  const tokenUrl = await serve((_, response) => {
    count += 1;
    response.end(JSON.stringify({ access_token: `t${count}`, expires_in: 3600 }));
  });
  const seen: (string | undefined)[] = [];
  const informationModelUrl = await serve(({ headers: { authorization } }, response) => {
    seen.push(authorization);
    response.writeHead(authorization === 'Bearer t2' ? 404 : 401).end();
  });
  const log = recordingLog();
  const oauth = { token: '', tokenUrl: `${tokenUrl}/token`, clientId: 'id', clientSecret: secret };
  const backends = createBackends({ ...settings, ...oauth, informationModelUrl }, log);
  onTestFinished(() => backends.close());
  const { informationModel } = backends.bind(callOf());
  expect(await informationModel.getModel('o1', 'm')).toBe(undefined);
  expect(await informationModel.getModel('o1', 'm')).toBe(undefined);
  expect(seen).toEqual(['Bearer t1', 'Bearer t2', 'Bearer t2']);
  expect([count, log.lines]).toEqual([2, []]);
});

// Backends that are called with the process's identity, each with the tokens of its scope (D365).

const tokensOf = (scope: string, getToken?: ScopedTokens['getToken']): ScopedTokens => ({
  scope,
  getToken: getToken ?? (async () => ({ token: `token-of-${scope}`, expiresOnTimestamp: Date.now() + 3_600_000 })),
});

function open(byScope: Readonly<Record<string, ScopedTokens>>, token = settings.token) {
  const seen: string[] = [];
  const adapter: AxiosAdapter = async (config) => {
    seen.push(`${config.url} ${config.headers['authorization']}`);
    return { status: 404, statusText: '', headers: {}, data: Buffer.from('{"errors":[]}'), config };
  };
  const access = { backend: (name: string) => byScope[name] };
  const log = recordingLog();
  const meter = createMeter();
  const backends = createBackends({ ...settings, token }, log, { adapter, access, meter });
  onTestFinished(() => backends.close());
  return { backends, seen, log, outages: () => readingOf(meter, 'device_messaging.backend.outages') };
}

it('each backend gets the token of its own scope, and one without a scope that of all', async () => {
  const { backends, seen } = open({ informationModel: tokensOf('im'), typeRegistry: tokensOf('tr') });
  const { principalManager, typeRegistry, informationModel } = backends.bind(callOf());
  await typeRegistry.getType('svc.device', 'pump', '1.0.0').catch(() => {});
  await principalManager.resolve('', 'd1').catch(() => {});
  await informationModel.getModel('o1', 'svc.device').catch(() => {});
  expect(seen.map((line) => line.replace(/^\/(\w+)\S* Bearer /, '$1: '))).toEqual([
    'modelDefinitions: token-of-tr',
    'devices: static-token',
    'objects: token-of-im',
  ]);
});

it('messages wait while the identity gets no token, as they do for a token endpoint', async () => {
  let isThere = false;
  const getToken = async () => {
    if (!isThere) throw new NoToken('the identity gets no token: gone');
    return { token: 'at-last', expiresOnTimestamp: Date.now() + 3_600_000 };
  };
  const scopes = { informationModel: tokensOf('im'), typeRegistry: tokensOf('tr', getToken) };
  const { backends, seen, log, outages } = open(scopes);
  expect(backends.states().tokenEndpoint).toMatchObject({ circuit: 'closed', outage: undefined });
  const reading = backends
    .bind(callOf())
    .typeRegistry.getType('svc.device', 'pump', '1.0.0')
    .catch(() => {});
  await expect.poll(() => backends.isUp('typeRegistry')).toBe(false);
  expect(backends.states().tokenEndpoint).toMatchObject({
    circuit: 'open',
    outage: { failure: 'no token of the identity' },
    connections: { inUse: 0, waiting: 0 },
    oldestMs: 0,
  });
  expect(outages()).toEqual({ tokenEndpoint: 1 });
  expect(log.lines).toMatchObject([{ level: 'warn', message: 'no access token for the backends' }]);
  expect(backends.isUp('principalManager')).toBe(true);
  isThere = true;
  expect(await backends.ready(['typeRegistry'], new AbortController().signal)).toBe(true);
  await reading;
  expect(seen.at(-1)).toContain('Bearer at-last');
});

it('a token of the identity is used until its life ends, without a token of all backends', async () => {
  vi.useFakeTimers();
  vi.advanceTimersByTime(60_000); // the clock of the process does not begin with the token
  let issued = 0;
  const getToken = async () => {
    issued += 1;
    return { token: `token-${issued}`, expiresOnTimestamp: Date.now() + 10_000 };
  };
  const [typeRegistry, principalManager] = [tokensOf('tr'), tokensOf('pm')];
  const { backends, seen } = open({ informationModel: tokensOf('im', getToken), typeRegistry, principalManager }, '');
  for (const ms of [0, 7_000, 3_000]) {
    vi.advanceTimersByTime(ms);
    await backends.bind(callOf()).informationModel.getModel('o1', 'svc.device');
  }
  expect(seen.map((line) => line.replace(/.* Bearer /, ''))).toEqual(['token-1', 'token-1', 'token-2']);
});
