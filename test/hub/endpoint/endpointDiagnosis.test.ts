import { expect, it } from 'vitest';
import { diagnoseReading, ofLookedUp } from '../../../src/observing/diagnosis.ts';

const told = ofLookedUp('pumps', 'device messaging');
const refusal = (code: string, message = 'no') => Object.assign(new Error(message), { code });

it('an endpoint that does not know the consumer group blames none before the failover that it can be', () => {
  const { setting, todo } = told(diagnoseReading(refusal('MessagingEntityNotFoundError'), 'reading'));
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
  expect(told(diagnoseReading(refusal(code), asking))).toMatchObject({
    setting: 'HUB_SERVICE_CONNECTION_STRING',
    todo: expect.stringMatching(todo),
  }),
);

it('what is no fault of a setting stays as it is', () => {
  const found = diagnoseReading(refusal('ArgumentError'), 'reading');
  expect(told(found)).toEqual(found);
});
