import { beforeEach, expect, it, vi } from 'vitest';
import { NoToken } from '../../src/access/identity.ts';
import { TooLate } from '../../src/concurrency/waiting.ts';
import { readHubError } from '../../src/hub/methods/hubError.ts';
import { NoEndpoint } from '../../src/hub/reading/foundEndpoint.ts';
import { errors } from '../../src/hub/serviceSdk.ts';
import {
  diagnoseLookUp,
  diagnoseMethods,
  diagnoseReading,
  diagnoseService,
  isRefusal,
  noTokenTodo,
  ofIdentity,
  ofLookedUp,
} from '../../src/observing/diagnosis.ts';
import { storeFailureOf } from '../../src/observing/storeFailure.ts';
import { StorageError } from '../../src/stores/account.ts';

// One answer, several causes: what an operator is told names each that it can be.

beforeEach(() => void vi.useFakeTimers({ now: Date.UTC(2026, 0, 2, 3, 4, 5) }));

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
  const otherwise = `If that does not help, ${alone}`;
  expect(todo('no')).toBe(`${alone}; or ${clock}: with a wrong one, tokens are refused too`);
  for (const said of ['TrackingId:7_G1, Timestamp:2026-01-02T05:04:05', 'ID:7-TimeStamp:01/02/2026 05:04:05'])
    expect(todo(said, 'Fri, 02 Jan 2026 05:04:05 GMT')).toBe(`${clock}: it is 7200 s behind theirs. ${otherwise}`);
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

const lookedUp = ofLookedUp('pumps', 'device messaging');

it('an endpoint that does not know the consumer group blames none before the failover that it can be', () => {
  const { setting, todo } = lookedUp(reading('MessagingEntityNotFoundError'));
  expect(setting).toBeUndefined();
  expect(todo).toMatch(
    /^nothing, if the hub fails over: the endpoint is looked up again; if it stays, HUB_CONSUMER_GROUP/,
  );
  expect(todo).toContain("az iot hub consumer-group create --hub-name pumps --name 'device messaging'");
});

it.each<[code: string, asking: 'looking' | 'reading', todo: RegExp]>([
  ['UnauthorizedError', 'reading', /has service connect/],
  ['MessagingEntityNotFoundError', 'looking', /looked up again; else compare HostName/],
  ['ENOTFOUND', 'looking', /looked up again; else compare HostName/],
])('%s while %s blames the hub’s connection string, which names no endpoint', (code, asking, todo) =>
  expect(lookedUp(diagnoseReading(coded(code), asking))).toMatchObject({
    setting: 'HUB_SERVICE_CONNECTION_STRING',
    todo: expect.stringMatching(todo),
  }),
);

it('what is no fault of a setting stays as it is', () => {
  const found = reading('ArgumentError');
  expect(lookedUp(found)).toEqual(found);
});

it.each<[code: string, todo: RegExp]>([
  ['SELF_SIGNED_CERT_IN_CHAIN', /NETWORK_CA_FILE must name the authority/],
  ['EPROXYAUTH', /the proxy asks for credentials/],
  ['EPROXYREFUSED', /have the proxy allow CONNECT/],
  ['EPROXYDOWN', /compare HTTPS_PROXY with the proxy/],
  ['CERT_HAS_EXPIRED', /compare the clock of this machine/],
])('what is to be done about %s is the same for each setting that names the host', (code, todo) => {
  const found = reading(code);
  expect(found.todo).toMatch(todo);
  expect(lookedUp(found)).toEqual({ ...found, setting: 'HUB_SERVICE_CONNECTION_STRING' });
  expect(ofIdentity(found)).toEqual({ ...found, setting: 'HUB_EVENTS_NAMESPACE' });
});

/** As the client wraps what the hub or the socket says. */
const wrapped = (amqpError: unknown) => Object.assign(new Error('not connected'), { amqpError });
const refused = wrapped(new errors.UnauthorizedError('no'));
const absent = wrapped(new errors.DeviceNotFoundError('none'));
const closed = wrapped(Object.assign(new Error('socket: ECONNREFUSED'), { code: 'ECONNREFUSED' }));
const nobodyAt = (place: string) => new RegExp(`nobody answers there: compare ${place}`);
const orWait = (name: string) => new RegExp(`^compare ${name} .*, or wait until hub and network are back$`);
const ofItself = (error: Error) => Object.assign(error, { amqpError: error });
const named = new errors.UnauthorizedError();
named.message = '';

it.each<[what: string, error: unknown, hubSaid: string, byKey: RegExp, byIdentity: RegExp]>([
  [
    'a refusal',
    refused,
    'no',
    /^SharedAccessKeyName and .* must be those of a policy/,
    /^give the identity a role .* IDENTITY_HUB_SCOPE/,
  ],
  ['other host', absent, 'none', /^HostName must be that of the IoT hub/, /^HUB_HOST_NAME must be that of the IoT hub/],
  ['a port that refuses', closed, 'socket: ECONNREFUSED', nobodyAt('HostName with'), nobodyAt('HUB_HOST_NAME with')],
  ['no answer', new TooLate('no answer within 5 ms'), 'nothing', nobodyAt('HostName'), nobodyAt('HUB_HOST_NAME')],
  ['an error without a code', new Error('what'), 'what', orWait('HostName'), orWait('HUB_HOST_NAME')],
  ['an error without words', named, 'UnauthorizedError', /of a policy/, /a role/],
  ['an error of itself', ofItself(new Error('own')), 'own', /^compare/, /^compare/],
  ['what is no error', 'broken', 'broken', /^compare/, /^compare/],
  ['an error with a text', wrapped('text'), 'not connected', /^compare/, /^compare/],
])('%s is told with its setting and a remedy', (_, error, hubSaid, ...expected) => {
  for (const [index, todo] of expected.entries()) {
    const setting = index === 0 ? 'HUB_SERVICE_CONNECTION_STRING' : 'HUB_HOST_NAME';
    expect(diagnoseService(error, index === 1)).toEqual({ setting, hubSaid, todo: expect.stringMatching(todo) });
  }
  expect(diagnoseService(error)).toEqual(diagnoseService(error, false));
});

it('an identity without a token is told as such', () => {
  const error = wrapped(new NoToken('no token'));
  expect(diagnoseService(error, true)).toEqual({ setting: 'IDENTITY', hubSaid: 'no token', todo: noTokenTodo });
});

it('only an answer that this client may not connect is a refusal', () => {
  expect(isRefusal(wrapped(new errors.UnauthorizedError('no')))).toBe(true);
  for (const error of [wrapped(new errors.DeviceNotFoundError('none')), new Error('x'), 'UnauthorizedError'])
    expect(isRefusal(error)).toBe(false);
});
