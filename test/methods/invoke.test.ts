import { describe, expect, it } from 'vitest';
import { startForAll, startForEach } from '../../iot-hub-emulator/test/support/fixtures.ts';
import { methodDevice } from './support/methodDevice.ts';
import { conveyor, flap, startTestFrontDoor } from './support/testFrontDoor.ts';

// Invocations from the application to the device and back, with the real hub client and backends (M1 to M7).

const setup = startForAll(startTestFrontDoor);
const motor = startForEach(() => methodDevice(setup.hub, 'motor-1'));
const gateway = startForAll(() => methodDevice(setup.hub, 'gateway-1'));

/** An invocation that the device answers with a status: what it received, and what the caller gets. */
async function invoked(...[object, method, body, options]: Parameters<typeof setup.call>) {
  const calling = setup.call(object, method, body, options);
  const call = await (object === flap ? gateway : motor).next();
  call.respond(200, { status: -1 });
  return { call, ...(await calling) };
}

describe('a method without inputs', () => {
  it('is invoked by a POST on its path, and its status and output are the response {S23.1 S23.2 S23.6}', async () => {
    const calling = setup.call(conveyor, 'stop', {}, { headers: { 'x-correlation-id': 'shift-7' } });
    const call = await motor.next();
    expect(call.name).toBe('invokeMethod');
    expect(JSON.parse(call.text)).toEqual({
      ...{ correlationId: 'shift-7', objectId: setup.objectIdOf(conveyor), model: 'svc.device', target: '' },
      ...{ method: 'stop', timeout: 30 },
    });
    call.respond(200, { status: 204, output: { rpm: 0, note: 'stopped – später' } });
    const { status, json, headers } = await calling;
    expect([status, json]).toEqual([200, { status: 204, output: { rpm: 0, note: 'stopped – später' } }]);
    expect(headers).toMatchObject({ 'x-correlation-id': 'shift-7', 'cache-control': 'no-store' });
  });

  it.each([
    ['with a space', 'shift 7'],
    ['of 129 characters', 'x'.repeat(129)],
    ['with other characters than ASCII', 'schicht-\u00e4'],
  ])('gets a new correlation id instead of one %s', async (_, sent) => {
    const { call, headers } = await invoked(conveyor, 'stop', {}, { headers: { 'x-correlation-id': sent } });
    expect(headers['x-correlation-id']).toMatch(/^[0-9a-f]{8}-[0-9a-f-]{27}$/);
    expect(call.payload.correlationId).toBe(headers['x-correlation-id']);
  });

  it('names the object as the information model spells it, whatever the path says', async () => {
    const path = setup.pathOf(conveyor, 'stop').replace(/[0-9a-f-]{36}/, (id) => id.toUpperCase());
    expect(path).toMatch(/[A-F]/);
    const { call, status } = await invoked(conveyor, 'stop', {}, { path });
    expect([status, call.payload.objectId]).toEqual([200, setup.objectIdOf(conveyor)]);
  });

  it('without an output returns only its status {S23.7}', async () => {
    expect((await invoked(conveyor, 'stop')).json).toEqual({ status: -1 });
  });

  it('has a second path under /v1, and its log line names caller and device {S23.3}', async () => {
    const { status, headers } = await invoked(conveyor, 'stop', {}, { path: `/v1${setup.pathOf(conveyor, 'stop')}` });
    expect(status).toBe(200);
    expect(await setup.lineOf(headers['x-correlation-id'])).toMatchObject({
      ...{ level: 'info', msg: 'method invoked', objectId: setup.objectIdOf(conveyor), model: 'svc.device' },
      ...{ method: 'stop', device: 'motor-1', caller: { sub: 'control-room', azp: 'control-room' } },
      ...{ status: 200, methodStatus: -1, durationMs: expect.any(Number), hubMs: expect.any(Number) },
    });
  });
});

describe('a method with inputs', () => {
  const all = { label: 'Größe 3', rpm: -(2 ** 53 - 1), torque: 1e300, reverse: false };

  it('gets the given inputs, which may be fewer than declared {S23.4}', async () => {
    const { call, status } = await invoked(conveyor, 'configure', { input: all, timeout: 5 });
    expect([status, call.payload]).toMatchObject([200, { input: all, timeout: 5 }]);
  });

  it('gets an empty input when no input is given {S23.6}', async () =>
    expect((await invoked(conveyor, 'configure')).call.payload.input).toEqual({}));
});

describe('an object behind a gateway', () => {
  it('is reached through the device with its path as the target, and its methods may be inherited {S23.1}', async () => {
    for (const [method, input] of [
      ['moveTo', { angle: 1.5 }],
      ['stop', undefined],
    ] as const) {
      const { call, headers } = await invoked(flap, method, input && { input });
      expect(call.payload).toMatchObject({ target: 'bus/drive-1', method });
      expect(call.payload.input).toEqual(input);
      const line = await setup.lineOf(headers['x-correlation-id']);
      expect(line).toMatchObject({ device: 'gateway-1', target: 'bus/drive-1' });
    }
  });
});

describe('the caller’s token', () => {
  it('goes only to the information model, without a device id; the type is read with the service’s token {S23.8}', async () => {
    const { backends } = setup;
    const since = backends.journal.last;
    const { call, headers } = await invoked(conveyor, 'stop');
    expect(call.text).not.toContain(setup.tokens.invoker.slice(0, 20));
    const [read, ...others] = backends.calls({ since });
    expect(read).toMatchObject({
      backend: 'informationModel',
      method: 'GET',
      path: `/objects/${setup.objectIdOf(conveyor)}/models/svc.device`,
      deviceId: undefined,
      headers: { 'x-svc-operation': 'invoke', 'x-correlation-id': headers['x-correlation-id'] },
    });
    for (const { backend, deviceId } of others.filter(({ backend }) => backend !== 'token'))
      expect([backend, deviceId]).toEqual(['typeRegistry', 'motor-1']);
  });

  it('is checked for each invocation; the type is cached', async () => {
    const { backends } = setup;
    await invoked(conveyor, 'stop');
    const since = backends.journal.last;
    await invoked(conveyor, 'stop');
    expect(backends.calls({ since }).map(({ backend }) => backend)).toEqual(['informationModel']);
  });
});

describe('the interface', () => {
  it('serves its contract', async () => {
    const answer = await setup.call(conveyor, 'stop', '', { method: 'GET', path: '/openapi.json' });
    expect(answer.headers['content-type']).toContain('application/json');
    expect(Object.keys((answer.json as { paths?: object }).paths ?? {})).toContain('/openapi.json');
  });

  it('is healthy, and ready when the hub has granted access', async () => {
    const health = `http://127.0.0.1:${setup.instance.healthPort}`;
    expect((await fetch(`${health}/livez`)).status).toBe(200);
    await expect.poll(async () => (await fetch(`${health}/readyz`)).status).toBe(200);
  });
});
