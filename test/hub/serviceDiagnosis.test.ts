import { expect, it } from 'vitest';
import { TooLate } from '../../src/concurrency/waiting.ts';
import { diagnoseService, isRefusal } from '../../src/hub/replies/serviceDiagnosis.ts';
import { errors } from '../../src/hub/replies/serviceSdk.ts';
import { NoToken, noTokenTodo } from '../../src/identity/identity.ts';

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
  [
    'another host',
    absent,
    'none',
    /^HostName must be that of the IoT hub/,
    /^HUB_HOST_NAME must be that of the IoT hub/,
  ],
  ['a port that refuses', closed, 'socket: ECONNREFUSED', nobodyAt('HostName with'), nobodyAt('HUB_HOST_NAME with')],
  [
    'no answer in time',
    new TooLate('no answer within 5 ms'),
    'nothing',
    nobodyAt('HostName'),
    nobodyAt('HUB_HOST_NAME'),
  ],
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
