import { expect, it } from 'vitest';
import { TooLate } from '../../src/concurrency/within.ts';
import { diagnoseService, isRefusal } from '../../src/hub/replies/serviceDiagnosis.ts';
import { errors } from '../../src/hub/replies/serviceSdk.ts';
import { NoToken, noTokenTodo } from '../../src/identity/identity.ts';

/** As the client wraps what the hub or the socket says. */
const wrapped = (amqpError: unknown) => Object.assign(new Error('not connected'), { amqpError });
const ofSocket = (code: string) => wrapped(Object.assign(new Error(`socket: ${code}`), { code }));
const ofItself = (error: Error) => Object.assign(error, { amqpError: error });
const named = new errors.UnauthorizedError();
named.message = '';

it.each<[what: string, error: unknown, byKey: [said: string, todo: RegExp], byIdentity: [said: string, todo: RegExp]]>([
  [
    'a refusal',
    wrapped(new errors.UnauthorizedError('no')),
    ['no', /^SharedAccessKeyName and .* must be those of a policy/],
    ['no', /^give the identity a role .* IDENTITY_HUB_SCOPE/],
  ],
  [
    'another host',
    wrapped(new errors.DeviceNotFoundError('none')),
    ['none', /^HostName must be that of the IoT hub/],
    ['none', /^HUB_HOST_NAME must be that of the IoT hub/],
  ],
  [
    'a port that refuses',
    ofSocket('ECONNREFUSED'),
    ['socket: ECONNREFUSED', /nobody answers there: compare HostName with/],
    ['socket: ECONNREFUSED', /nobody answers there: compare HUB_HOST_NAME with/],
  ],
  [
    'no answer in time',
    new TooLate('no answer within 5 ms'),
    ['nothing', /nobody answers there: compare HostName/],
    ['nothing', /nobody answers there: compare HUB_HOST_NAME/],
  ],
  [
    'an error without a code',
    new Error('what'),
    ['what', /^compare HostName .*, or wait until hub and network are back$/],
    ['what', /^compare HUB_HOST_NAME .*, or wait until hub and network are back$/],
  ],
  ['an error without words', named, ['UnauthorizedError', /of a policy/], ['UnauthorizedError', /a role/]],
  ['an error of itself', ofItself(new Error('own')), ['own', /^compare/], ['own', /^compare/]],
  ['what is no error', 'broken', ['broken', /^compare/], ['broken', /^compare/]],
  ['an error with a text', wrapped('text'), ['not connected', /^compare/], ['not connected', /^compare/]],
])('%s is told with its setting and a remedy', (_, error, ...expected) => {
  for (const [index, [hubSaid, todo]] of expected.entries()) {
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
