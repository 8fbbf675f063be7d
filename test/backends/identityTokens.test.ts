import type { AxiosAdapter } from 'axios';
import { expect, it, onTestFinished, vi } from 'vitest';
import { createBackends } from '../../src/backends/backends.ts';
import { NoToken, type ScopedTokens } from '../../src/identity/identity.ts';
import { createMeter } from '../../src/metrics/meter.ts';
import { readingOf, recordingLog } from '../support/observed.ts';
import { callOf, settings } from './harness.ts';

// Backends that are called with the process's identity, each with the tokens of its scope (D365).

const tokensOf = (scope: string, getToken?: ScopedTokens['getToken']): ScopedTokens => ({
  scope,
  getToken: getToken ?? (async () => ({ token: `token-of-${scope}`, expiresOnTimestamp: Date.now() + 3_600_000 })),
});

function open(byScope: Readonly<Record<string, ScopedTokens>>, token = settings.token) {
  const seen: string[] = [];
  const adapter: AxiosAdapter = async (config) => {
    seen.push(`${config.url} ${config.headers.get('authorization')}`);
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
  onTestFinished(() => void vi.useRealTimers());
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
