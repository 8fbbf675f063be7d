import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { NoEndpoint } from '../../src/hub/endpoint/lookUp.ts';
import { readHubError } from '../../src/hub/methods/hubError.ts';
import { errors } from '../../src/hub/replies/serviceSdk.ts';
import {
  diagnoseLookUp,
  diagnoseMethods,
  diagnoseReading,
  diagnoseService,
  ofIdentity,
  ofLookedUp,
  storeFailureOf,
} from '../../src/observing/diagnosis.ts';
import { StorageError } from '../../src/storage/storageCalls.ts';

// One answer, several causes: what an operator is told names each that it can be.

beforeEach(() => void vi.useFakeTimers({ now: Date.UTC(2026, 0, 2, 3, 4, 5) }));
afterEach(() => void vi.useRealTimers());

const coded = (code: string, said = '') => Object.assign(new Error(said), { code, syscall: 'connect' });
const reading = (code: string, said?: string) => diagnoseReading(coded(code, said), 'reading');
const inAccount = (setting: string) => (error: unknown) => storeFailureOf(error, { setting })?.diagnosis;
const [ofKey, ofRole] = [inAccount('STORE_CONNECTION_STRING'), inAccount('STORE_ACCOUNT_URL')];
const answered = (headers = {}) =>
  readHubError(Object.assign(new Error('HTTP 401'), { response: { statusCode: 401, headers, text: '' } }), true);

type Diagnosis = { readonly setting?: string | undefined; readonly todo: string } | undefined;

/** By the words of the refusal, and the `Date` of one by HTTP. */
const refusals: readonly [what: string, told: (said: string, date?: string) => Diagnosis][] = [
  ['the key of events', (said) => reading('UnauthorizedError', said)],
  ['the identity of events', (said) => ofIdentity(reading('UnauthorizedError', said))],
  ['the key of an endpoint that was looked up', (said) => ofLookedUp('h', 'g')(reading('UnauthorizedError', said))],
  ['the key of a look-up', (said) => diagnoseLookUp(new NoEndpoint(said, 'amqp:unauthorized-access'))],
  ['the key of replies', (said) => diagnoseService(new errors.UnauthorizedError(said))],
  ['the identity of replies', (said) => diagnoseService(new errors.UnauthorizedError(said), true)],
  ['the key of methods', (_, date) => diagnoseMethods(answered({ date }), true)],
  ['the identity of methods', (_, date) => diagnoseMethods(answered({ date }), false)],
  ['the key of an account', (_, date) => ofKey(new StorageError('list', 403, 'AuthenticationFailed', date))],
  ['the identity of an account', (_, date) => ofRole(new StorageError('list', 401, 'InvalidAuthenticationInfo', date))],
];

it.each(refusals)('%s is refused: the clock may be the cause, and is when the answer shows it', (_, told) => {
  const todo = (said: string, date?: string) => told(said, date)?.todo ?? '';
  const clock = 'synchronise the clock of this machine (NTP)';
  const alone = todo('Timestamp:2026-01-02T03:00:00', 'Fri, 02 Jan 2026 03:00:00 GMT');
  expect(alone).not.toContain('clock of this machine');
  expect(todo('no')).toBe(`${alone}; or ${clock}: with a wrong one, tokens are refused too`);
  for (const said of ['TrackingId:7_G1, Timestamp:2026-01-02T05:04:05', 'ID:7-TimeStamp:01/02/2026 05:04:05'])
    expect(todo(said, 'Fri, 02 Jan 2026 05:04:05 GMT')).toBe(
      `${clock}: it is 7200 s behind theirs. If that does not help, ${alone}`,
    );
  expect(todo('Timestamp:2026-01-02T01:04:05', 'Fri, 02 Jan 2026 01:04:05 GMT')).toContain('7200 s ahead of theirs');
});

it('a token that counts as expired names the clock first', () => {
  const { todo } = reading('UnauthorizedError', 'The token has expired.');
  expect(todo).toMatch(/^synchronise the clock .*\. If it is right, SharedAccessKeyName and SharedAccessKey must/);
});

it.each<[what: string, told: (code: string) => Diagnosis]>([
  ['the hub’s events', (code) => reading(code)],
  ['the hub’s event endpoint', (code) => diagnoseLookUp(new NoEndpoint('connect', code))],
  ['replies', (code) => diagnoseService(coded(code))],
  ['methods', (code) => diagnoseMethods(readHubError(coded(code), false), true)],
  ['an account', (code) => ofKey(new StorageError('list', undefined, code))],
  ['a folder', (code) => storeFailureOf(coded(code), { setting: 'DATA_DIRECTORY' })?.diagnosis],
])('%s: this process or machine may open no more files, which no setting of the other side changes', (_, told) => {
  for (const code of ['EMFILE', 'ENFILE'])
    expect(told(code)).toMatchObject({
      setting: 'ulimit -n',
      todo: expect.stringMatching(/^the limit is that of this process .* raise it/),
    });
});
