import mqtt from 'azure-iot-device-mqtt';
import type { StandingFault } from 'iot-hub-emulator';
import { afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { moduleClient } from '../../iot-hub-emulator/test/support/clients.ts';
import { startForAll, startForEach, startForTest } from '../../iot-hub-emulator/test/support/fixtures.ts';
import type { Reason } from '../../src/protocol/vocabulary.ts';
import { soon } from '../support/waiting.ts';
import { expectFailure } from './support/expectFailure.ts';
import { methodDevice, type Received, succeed } from './support/methodDevice.ts';
import { conveyor, startTestFrontDoor } from './support/testFrontDoor.ts';

// Invocations from the application to the device and back, with the real hub client and backends (M1 to M8). Inputs, files, gateways and
// each class of refusal are in the demonstration of the sandbox, which test/e2e/methods.test.ts runs.

const setup = startForAll(startTestFrontDoor);
let answer: (call: Received) => void;
beforeEach(() => {
  answer = succeed;
});
const motor = startForEach(() => methodDevice(setup.hub, 'motor-1', (call) => answer(call)));
beforeAll(() =>
  vi.waitFor(() => expect(setup.lines.map(({ msg }) => msg)).toContain('the hub grants access to methods'), soon),
);
afterEach(() => setup.hub.faults.clear());

/** Adds an object of a new type. @param methods as JSON. @returns invokes its method `run` */
async function added(version: string, methods: string, owner = 'motor-1') {
  const definition = `{"typeId":"winch","version":"${version}","methods":${methods}}`;
  setup.backends.world.types.create('acme', 'svc.device', definition);
  const object = JSON.stringify({ model: 'svc.device', type: `winch@${version}`, name: `Winch ${version}` });
  const url = `${setup.backends.adminUrl}/objects?owner=${owner}`;
  expect((await fetch(url, { method: 'POST', body: object })).status).toBe(201);
  return (body = '{}') => setup.call(`Winch ${version}`, 'run', body);
}

describe('a method', () => {
  it('is invoked by a POST on its path, and its status and output are the response {S23.1 S23.2 S23.6}', async () => {
    const output = { rpm: 0, note: 'stopped – später' };
    answer = (call) => call.respond(200, { status: 204, output });
    const called = await setup.call(conveyor, 'stop', {}, { headers: { 'x-correlation-id': 'shift-7' } });
    expect([called.status, called.json]).toEqual([200, { status: 204, output }]);
    expect(motor.received.map(({ name, text }) => [name, JSON.parse(text)])).toEqual([
      [
        'invokeMethod',
        {
          ...{ correlationId: 'shift-7', objectId: setup.objectIdOf(conveyor), model: 'svc.device', target: '' },
          ...{ method: 'stop', timeout: 30 },
        },
      ],
    ]);
  });

  it('is read with the service’s token; the caller’s goes only to the information model, without a device id {S23.8}', async () => {
    const { backends } = setup;
    const since = backends.journal.last;
    const { headers } = await setup.call(conveyor, 'stop');
    expect(motor.received[0]?.text).not.toContain(setup.tokens.invoker.slice(0, 20));
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

  it('gets an input of another data type, and one named __proto__, when it can be carried exactly {S23.4}', async () => {
    const inputs = '{"shape":{"dataType":"shape"},"__proto__":{"dataType":"string"}}';
    const run = await added('1.0.0', `{"run":{"input":${inputs}}}`);
    const input = '{"shape":{"corners":[[1,2.5],null],"__proto__":{"x":1}},"__proto__":"y"}';
    expect((await run(`{"input":${input}}`)).status).toBe(200);
    expect(motor.received[0]?.text).toContain(`"input":${input}`);
    const called = await run('{"input":{"shape":{"corners":[[1,1e999]]}}}');
    await expectFailure(setup, called, 400, 'invalid_request', /input\.shape\.corners\[0\]\[1\] is a number beyond/);
  });

  it('of a device that disconnects with the call in its hand may have run, however fast', async () => {
    answer = () => {};
    const calling = setup.call(conveyor, 'stop', { timeout: 5 });
    await motor.next();
    await motor.close();
    const line = await expectFailure(setup, await calling, 504, 'outcome_unknown', /perhaps during the call/);
    expect(line['errorCode']).toBe(404103);
  });

  it('may be one of a module of the device, the edge proxy', async () => {
    const edge = await startForTest(startTestFrontDoor({ settings: { METHODS_EDGE_MODULE: 'edge' } }));
    edge.hub.registry.create('motor-1', { moduleId: 'edge' });
    const module = await startForTest(moduleClient(edge.hub, 'motor-1', 'edge', mqtt.Mqtt));
    module.onMethod('invokeMethod', (request, response) => {
      void response?.send(200, { status: request?.payload.method === 'stop' ? 5 : 6 });
    });
    await module.open();
    await module.getTwin();
    expect((await edge.call(conveyor, 'stop')).json).toEqual({ status: 5 });
  });
});

describe('the hub', () => {
  const throttle = { kind: 'method', answer: 'refuse', errorCode: 429001 } as const;
  // Its other answers are rows of hubError.test.ts and hubAccess.test.ts.
  it.each<[string, StandingFault, number, Reason, RegExp, string | undefined]>([
    ['throttles', throttle, 429, 'throttled', /throttles/, '5'],
    ['closes the connection', { kind: 'method', answer: 'reset' }, 504, 'outcome_unknown', /hub ended/, undefined],
    ['sends garbage', { kind: 'method', answer: 'garbage' }, 502, 'bad_reply', /may have run/, undefined],
  ])('%s, and gets the call once', async (_, fault, status, reason, sentence, retryAfter) => {
    setup.hub.faults.add(fault);
    const called = await setup.call(conveyor, 'stop');
    await expectFailure(setup, called, status, reason, sentence);
    expect(called.headers['retry-after']).toBe(retryAfter);
    expect(setup.hub.faults.list()).toMatchObject([{ struck: 1 }]);
  });

  it('that refuses the key at the start keeps the front door not ready, which is an error in the log', async () => {
    const key = Buffer.from('wrong').toString('base64');
    const settings = {
      HUB_SERVICE_CONNECTION_STRING: setup.hub.serviceConnectionString.replace(/Key=[^;=]*=*$/, `Key=${key}`),
    };
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
    const locked = await startForTest(startTestFrontDoor({ settings, hub: setup.hub }));
    const errors = () => locked.lines.filter(({ level }) => level === 'error');
    await vi.waitFor(() => expect(errors()).toHaveLength(1), soon);
    vi.advanceTimersByTime(60_000);
    vi.useRealTimers();
    expect(errors().at(-1)).toMatchObject({ status: 401, times: expect.any(Number), inProgress: 0 });
    const readyz = await fetch(`http://127.0.0.1:${locked.instance.healthPort}/readyz`);
    const expected = [503, { status: 'not ready', waitingFor: ['access to methods of the hub'] }];
    expect([readyz.status, await readyz.json()]).toEqual(expected);
    await expectFailure(locked, await locked.call(conveyor, 'stop'), 503, 'hub_refuses_us', /alerted/);
  });
});

it('a type that the front door may not read is not taken for an unknown one', async () => {
  const run = await added('1.1.0', '{"run":{}}');
  setup.backends.faults.add({ backend: 'typeRegistry', times: 1, status: 403 });
  await expectFailure(setup, await run(), 503, 'backend_unavailable', /look-up .* failed; nothing was invoked/);
});

it('while the type registry is out, invocations fail at once until it is back, but for types that are remembered', async () => {
  expect((await setup.call(conveyor, 'stop')).status).toBe(200);
  const owners = ['motor-1', 'gateway-1', 'motor-1'];
  const calls = await Promise.all(owners.map((owner, index) => added(`2.0.${index}`, '{"run":{}}', owner)));
  setup.backends.faults.add({ backend: 'typeRegistry', status: 503 });
  for (const called of await Promise.all(calls.map((run) => run())))
    expect(called.error?.detail).toMatch(/^the type registry is unavailable; nothing was invoked/);
  expect((await setup.call(conveyor, 'stop')).status).toBe(200);
  setup.backends.faults.clear();
  await expect.poll(async () => (await calls[0]?.())?.status).toBe(200);
});

it('an information model that is offline is reported at once when a probe has failed, too, and does not make the front door unready', async () => {
  const lonely = await startForTest(startTestFrontDoor({ settings: { INFORMATION_MODEL_URL: 'http://127.0.0.1:1' } }));
  const first = await lonely.call(conveyor, 'stop');
  await expectFailure(lonely, first, 503, 'backend_unavailable', /did not respond: connection refused/);
  await expect.poll(() => lonely.lines.filter(({ event }) => event === 'backend.out')).toHaveLength(1);
  const next = await lonely.call(conveyor, 'stop');
  await expectFailure(lonely, next, 503, 'backend_unavailable', /^the information model is unavailable/);
  const ready = async () => (await fetch(`http://127.0.0.1:${lonely.instance.healthPort}/readyz`)).status;
  await expect.poll(ready).toBe(200); // once the hub has been asked, too
});
