import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Reason } from '../../src/methods/failure.ts';
import { expectFailure } from './support/expectFailure.ts';
import { type MethodDevice, methodDevice } from './support/methodDevice.ts';
import { conveyor, startTestFrontDoor, type TestFrontDoor } from './support/testFrontDoor.ts';

// The body of an invocation (M3, M4).

let setup: TestFrontDoor;
let motor: MethodDevice;
beforeAll(async () => {
  setup = await startTestFrontDoor();
  motor = await methodDevice(setup.hub, 'motor-1', (call) => call.respond(200, { status: 0 }));
});
afterAll(async () => {
  await motor.close();
  await setup.close();
});

const refused = async (body: unknown, status: number, reason: Reason, sentence: RegExp, method = 'configure') => {
  const before = motor.received.length;
  await expectFailure(setup, await setup.call(conveyor, method, body), status, reason, sentence);
  expect(motor.received).toHaveLength(before);
};

describe('a body', () => {
  it.each<[string, unknown, RegExp]>([
    ['that is empty', '', /the body is empty/],
    ['that is not JSON', '{"input":', /not well-formed JSON/],
    ['that is not UTF-8', Buffer.from('{"input":{"label":"\xff"}}', 'latin1'), /not valid UTF-8/],
    ['that is not an object', '[]', /^body must be object/],
    ['that is null', 'null', /^body must be object/],
    ['with another member', { input: {}, priority: 1 }, /has a member other than input and timeout: "priority"/],
    ['with a member __proto__', '{"__proto__":{"timeout":5}}', /other than input and timeout/],
    ['with an input that is not an object', { input: [] }, /^body\.input must be object/],
    ['with an input twice', '{"input":{"rpm":1,"rpm":2}}', /has a duplicate member: "rpm"/],
    ['nested 65 levels deep', `{"input":{"label":${'['.repeat(63)}${']'.repeat(63)}}}`, /nested more than 64/],
    ...[4, 301, 5.5, '30', null, true].map((timeout): [string, unknown, RegExp] => [
      `with the timeout ${JSON.stringify(timeout)}, which is neither rounded nor converted`,
      { timeout },
      /^body\.timeout must be /,
    ]),
  ])('%s is refused', async (_, body, sentence) => {
    await refused(body, 400, 'invalid_request', sentence);
  });

  it.each<[string, Record<string, string>]>([
    ['text/plain', { 'content-type': 'text/plain' }],
    ['without a content type', { 'content-type': '' }],
    ['compressed', { 'content-encoding': 'gzip' }],
  ])('that is %s is refused', async (_, headers) => {
    const called = await setup.call(conveyor, 'configure', '{}', { headers });
    await expectFailure(setup, called, 415, 'unsupported_media_type', /the body must (be JSON|not be compressed)/);
  });
});

describe('an input', () => {
  it.each<[string, unknown, RegExp]>([
    ['that is not declared', { input: { speed: 1 } }, /^input "speed" is not declared by the method$/],
    ['named __proto__', '{"input":{"__proto__":{}}}', /^input "__proto__" is not declared/],
    ['named constructor', { input: { constructor: 1 } }, /^input "constructor" is not declared/],
    ['that is not a string', { input: { label: 3 } }, /^input "label" must be a string$/],
    ['that is null', { input: { label: null } }, /^input "label" must be a string$/],
    ['that is a string of digits', { input: { rpm: '3' } }, /^input "rpm" must be an integer/],
    ['that is not an integer', { input: { rpm: 1.5 } }, /^input "rpm" must be an integer/],
    ['beyond 2^53', '{"input":{"rpm":9007199254740993}}', /^input "rpm" must be an integer within ±\(2\^53−1\)$/],
    ['that overflows a double', '{"input":{"torque":1e999}}', /^input "torque" must be a number$/],
    ['that is not a boolean', { input: { reverse: 'true' } }, /^input "reverse" must be true or false$/],
    ['next to another wrong one', { input: { rpm: {}, reverse: 0 } }, /^input "rpm" must.*; input "reverse" must/],
  ])('%s is refused with its name', async (_, body, sentence) => {
    await refused(body, 400, 'invalid_request', sentence);
  });

  it('of a method without inputs is refused', async () => {
    await refused({ input: { now: true } }, 400, 'invalid_request', /"now" is not declared/, 'stop');
  });

  it('of another data type is passed on, except numbers that cannot be represented exactly', async () => {
    const definition = {
      typeId: 'crimper',
      version: '1.0.0',
      methods: { form: { input: { shape: { dataType: 'shape' } } } },
    };
    setup.backends.world.types.create('acme', 'svc.device', JSON.stringify(definition));
    const object = JSON.stringify({ model: 'svc.device', type: 'crimper', name: 'Crimper' });
    const owned = await fetch(`${setup.backends.adminUrl}/objects?owner=motor-1`, { method: 'POST', body: object });
    expect(owned.status).toBe(201);
    const shape = { corners: [[1, 2.5], null], closed: true };
    expect((await setup.call('Crimper', 'form', { input: { shape } })).status).toBe(200);
    expect(motor.received.at(-1)?.payload.input).toEqual({ shape });
    for (const number of ['9007199254740993', '1e999']) {
      const called = await setup.call('Crimper', 'form', `{"input":{"shape":{"corners":[[${number}]]}}}`);
      await expectFailure(setup, called, 400, 'invalid_request', /"shape" .* cannot be represented exactly/);
    }
  });
});

describe('the payload for the device', () => {
  const sized = async (label: string) => {
    const headers = { 'x-correlation-id': 'c' };
    return { called: await setup.call(conveyor, 'configure', { input: { label } }, { headers }), headers };
  };

  it('may have 131,072 bytes, and not one more', async () => {
    const empty = Buffer.byteLength(
      JSON.stringify({
        correlationId: 'c',
        objectId: setup.objectIdOf(conveyor),
        model: 'svc.device',
        target: '',
        method: 'configure',
        timeout: 30,
        input: { label: '' },
      }),
    );
    const room = 131_072 - empty;
    expect((await sized('é'.repeat((room - (room % 2)) / 2) + 'x'.repeat(room % 2))).called.status).toBe(200);
    expect(Buffer.byteLength(motor.received.at(-1)?.text ?? '')).toBe(131_072);
    const { called } = await sized('x'.repeat(room + 1));
    expect([called.status, called.error?.meta]).toEqual([413, { reason: 'too_large' }]);
    expect(called.error?.detail).toMatch(/has 131073 bytes, at most 131072 are allowed/);
  });

  it('is refused unread when the body is too large', async () => {
    await refused({ input: { label: 'x'.repeat(262_144) } }, 413, 'too_large', /more than 262,144 bytes/);
  });
});
