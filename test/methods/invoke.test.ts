import { describe, expect, it } from 'vitest';
import { startForAll, startForEach } from '../../iot-hub-emulator/test/support/fixtures.ts';
import { methodDevice } from './support/methodDevice.ts';
import { conveyor, flap, startTestFrontDoor } from './support/testFrontDoor.ts';

// Invocations from the application to the device and back, with the real hub client and backends (M1 to M7).

const setup = startForAll(startTestFrontDoor);
const motor = startForEach(() => methodDevice(setup.hub, 'motor-1'));

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
    const calling = setup.call(conveyor, 'stop', {}, { headers: { 'x-correlation-id': sent } });
    const call = await motor.next();
    call.respond(200, { status: 0 });
    const { headers } = await calling;
    expect(headers['x-correlation-id']).toMatch(/^[0-9a-f]{8}-[0-9a-f-]{27}$/);
    expect(call.payload.correlationId).toBe(headers['x-correlation-id']);
  });

  it('names the object as the information model spells it, whatever the path says', async () => {
    const path = setup.pathOf(conveyor, 'stop').replace(/[0-9a-f-]{36}/, (id) => id.toUpperCase());
    expect(path).toMatch(/[A-F]/);
    const calling = setup.call(conveyor, 'stop', {}, { path });
    const call = await motor.next();
    expect(call.payload.objectId).toBe(setup.objectIdOf(conveyor));
    call.respond(200, { status: 0 });
    expect((await calling).status).toBe(200);
  });

  it('is a direct method that does not wait for the device to connect, with the time-out of the request', async () => {
    const headers = { 'x-correlation-id': 'timed' };
    const calling = setup.call(conveyor, 'stop', { timeout: 17 }, { headers });
    (await motor.next()).respond(200, { status: 0 });
    await calling;
    expect(setup.hub.journal.list({ kind: 'method', correlationId: 'timed' })).toMatchObject([
      { connectTimeoutInSeconds: 0, responseTimeoutInSeconds: 17, status: 200 },
    ]);
  });

  it('without an output returns only its status {S23.7}', async () => {
    const calling = setup.call(conveyor, 'stop');
    (await motor.next()).respond(200, { status: -1 });
    expect((await calling).json).toEqual({ status: -1 });
  });

  it('has a second path under /v1, and its log line names caller and device {S23.3}', async () => {
    const calling = setup.call(conveyor, 'stop', {}, { path: `/v1${setup.pathOf(conveyor, 'stop')}` });
    (await motor.next()).respond(200, { status: 0 });
    const { status, headers } = await calling;
    expect(status).toBe(200);
    expect(await setup.lineOf(headers['x-correlation-id'])).toMatchObject({
      ...{ level: 'info', msg: 'method invoked', objectId: setup.objectIdOf(conveyor), model: 'svc.device' },
      ...{ method: 'stop', device: 'motor-1', caller: { sub: 'control-room', azp: 'control-room' } },
      ...{ status: 200, methodStatus: 0, durationMs: expect.any(Number), hubMs: expect.any(Number) },
    });
  });
});

describe('a method with inputs', () => {
  const all = { label: 'Größe 3', rpm: -(2 ** 53 - 1), torque: 1e300, reverse: false };

  it('gets the given inputs, which may be fewer than declared {S23.4}', async () => {
    const calling = setup.call(conveyor, 'configure', { input: all, timeout: 5 });
    const call = await motor.next();
    expect(call.payload).toMatchObject({ input: all, timeout: 5 });
    call.respond(200, { status: 0 });
    expect((await calling).status).toBe(200);
  });

  it('gets an empty input when no input is given {S23.6}', async () => {
    const calling = setup.call(conveyor, 'configure');
    const call = await motor.next();
    expect(call.payload.input).toEqual({});
    call.respond(200, { status: 0 });
    await calling;
  });
});

describe('an object behind a gateway', () => {
  const gateway = startForAll(() => methodDevice(setup.hub, 'gateway-1'));

  it('is reached through the device with its path as the target, and its methods may be inherited {S23.1}', async () => {
    for (const [method, input] of [
      ['moveTo', { angle: 1.5 }],
      ['stop', undefined],
    ] as const) {
      const calling = setup.call(flap, method, input && { input });
      const call = await gateway.next();
      expect(call.payload).toMatchObject({ target: 'bus/drive-1', method });
      expect(call.payload.input).toEqual(input);
      call.respond(200, { status: 0 });
      const { headers } = await calling;
      const line = await setup.lineOf(headers['x-correlation-id']);
      expect(line).toMatchObject({ device: 'gateway-1', target: 'bus/drive-1' });
    }
  });
});

describe('the caller’s token', () => {
  it('goes only to the information model, without a device id; the type is read with the service’s token {S23.8}', async () => {
    const { backends } = setup;
    const since = backends.journal.last;
    const calling = setup.call(conveyor, 'stop');
    const call = await motor.next();
    expect(call.text).not.toContain(setup.tokens.invoker.slice(0, 20));
    call.respond(200, { status: 0 });
    const { headers } = await calling;
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
    for (let round = 0; round < 2; round += 1) {
      const calling = setup.call(conveyor, 'stop');
      (await motor.next()).respond(200, { status: 0 });
      await calling;
    }
    const since = backends.journal.last;
    const calling = setup.call(conveyor, 'stop');
    (await motor.next()).respond(200, { status: 0 });
    await calling;
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
