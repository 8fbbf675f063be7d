import { expect, it } from 'vitest';
import { startForAll } from '../../iot-hub-emulator/test/support/fixtures.ts';
import { expectFailure } from './support/expectFailure.ts';
import { methodDevice, succeed } from './support/methodDevice.ts';
import { conveyor, startTestFrontDoor } from './support/testFrontDoor.ts';

// The body of an invocation (M3, M4).

const setup = startForAll(startTestFrontDoor);
const motor = startForAll(() => methodDevice(setup.hub, 'motor-1', succeed));

// Their other faults are rows of requestBody.test.ts and calls.test.ts.
it.each<[string, Record<string, string>]>([
  ['text/plain {S23.2}', { 'content-type': 'text/plain' }],
  ['without a content type', { 'content-type': '' }],
  ['compressed', { 'content-encoding': 'gzip' }],
])('a body that is %s is refused', async (_, headers) => {
  const called = await setup.call(conveyor, 'configure', '{}', { headers });
  await expectFailure(setup, called, 415, 'unsupported_media_type', /the body must (be JSON|not be compressed)/);
});

it('an input of another data type, and one named __proto__, is passed on when it can be carried exactly {S23.4}', async () => {
  const inputs = '{"shape":{"dataType":"shape"},"__proto__":{"dataType":"string"}}';
  const definition = `{"typeId":"crimper","version":"1.0.0","methods":{"form":{"input":${inputs}}}}`;
  setup.backends.world.types.create('acme', 'svc.device', definition);
  const object = JSON.stringify({ model: 'svc.device', type: 'crimper', name: 'Crimper' });
  const owned = await fetch(`${setup.backends.adminUrl}/objects?owner=motor-1`, { method: 'POST', body: object });
  expect(owned.status).toBe(201);
  const input = '{"shape":{"corners":[[1,2.5],null],"__proto__":{"x":1}},"__proto__":"y"}';
  expect((await setup.call('Crimper', 'form', `{"input":${input}}`)).status).toBe(200);
  expect(motor.received.at(-1)?.text).toContain(`"input":${input}`);
  const called = await setup.call('Crimper', 'form', '{"input":{"shape":{"corners":[[1,1e999]]}}}');
  await expectFailure(setup, called, 400, 'invalid_request', /input\.shape\.corners\[0\]\[1\] is a number beyond/);
});
