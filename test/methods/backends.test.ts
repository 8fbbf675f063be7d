import { createServer, type RequestListener } from 'node:http';
import { afterEach, describe, expect, it } from 'vitest';
import { startForAll, startForTest } from '../../iot-hub-emulator/test/support/fixtures.ts';
import { listening } from '../../iot-hub-emulator/test/support/listening.ts';
import type { FaultRequest } from '../../sandbox/backends/calls/faults.ts';
import { expectFailure } from './support/expectFailure.ts';
import { methodDevice, succeed } from './support/methodDevice.ts';
import { type CallResult, conveyor, startTestFrontDoor } from './support/testFrontDoor.ts';

// Information model or type registry is offline, is slow, or sends invalid responses (M2, M8).

const setup = startForAll(() =>
  startTestFrontDoor({ settings: { BACKENDS_ATTEMPT_TIMEOUT_SECONDS: '3', BACKENDS_CACHE_SECONDS: '1' } }),
);
const motor = startForAll(() => methodDevice(setup.hub, 'motor-1', succeed));
afterEach(() => setup.backends.faults.clear());

/** A fault of the information model that calls for the conveyor get, and not a probe. */
const modelFault = (fault: Omit<FaultRequest, 'backend'>) =>
  setup.backends.faults.add({
    backend: 'informationModel',
    path: `/objects/${setup.objectIdOf(conveyor)}/models/*`,
    ...fault,
  });

const refused = async (sentence: RegExp) => {
  const before = motor.received.length;
  const called = await setup.call(conveyor, 'stop');
  await expectFailure(setup, called, 503, 'backend_unavailable', sentence);
  expect([called.headers['retry-after'], motor.received.length]).toEqual(['5', before]);
};

describe('the information model', () => {
  it.each<[string, Omit<FaultRequest, 'backend'>, RegExp]>([
    ['fails', { status: 500 }, /responded with HTTP 500; nothing was invoked/],
    ['resets the connection', { reset: 'before' }, /did not respond: connection lost/],
    ['closes the connection early', { reset: 'mid-body' }, /did not respond: connection lost/],
    ['does not respond', { hang: true }, /did not respond: no answer in time/],
    ['sends garbage', { garbage: true }, /not the object model/],
  ])('%s', async (_, fault, sentence) => {
    modelFault({ times: 1, ...fault });
    await refused(sentence);
    expect((await setup.call(conveyor, 'stop')).status).toBe(200);
  });

  it.each([
    ['120', '120'],
    ['Fri, 31 Dec 1999 23:59:59 GMT', 'Fri, 31 Dec 1999 23:59:59 GMT'],
    ['soon', '5'],
    ['-1', '5'],
    ['1.5', '5'],
    ['2000-01-01', '5'],
    ['Sat, 31 Dec 1999 23:59:59 GMT', '5'],
    ['1'.repeat(100), '5'],
  ])('says %s in Retry-After, callers get %s', async (said, passedOn) => {
    modelFault({ times: 1, status: 503, headers: { 'retry-after': said } });
    const called = await setup.call(conveyor, 'stop');
    expect([called.status, called.headers['retry-after']]).toEqual([503, passedOn]);
  });

  it('may be slow: the invocation waits', async () => {
    modelFault({ times: 1, delayMs: 300 });
    expect((await setup.call(conveyor, 'stop')).status).toBe(200);
  });

  it('is not considered unavailable because of error responses to callers', async () => {
    modelFault({ times: 9, status: 503 });
    for (let count = 0; count < 9; count += 1) await refused(/HTTP 503/);
    expect((await setup.call(conveyor, 'stop')).status).toBe(200);
    expect(setup.lines.filter(({ msg }) => msg === 'backend is out, calls to it wait')).toEqual([]);
  });
});

describe('the type registry', () => {
  /** A type that is not remembered. */
  async function newType(version: string, owner = 'motor-1') {
    const definition = { typeId: 'winch', version, methods: { pull: {} } };
    setup.backends.world.types.create('acme', 'svc.device', JSON.stringify(definition));
    const object = JSON.stringify({ model: 'svc.device', type: `winch@${version}`, name: `Winch ${version}` });
    await fetch(`${setup.backends.adminUrl}/objects?owner=${owner}`, { method: 'POST', body: object });
    return () => setup.call(`Winch ${version}`, 'pull');
  }

  it('is called again within ten seconds when it fails', async () => {
    const pull = await newType('1.0.0');
    setup.backends.faults.add({ backend: 'typeRegistry', times: 2, status: 503 });
    expect((await pull()).status).toBe(200);
  });

  it.each<[string, Omit<FaultRequest, 'backend'>]>([
    ['sends garbage', { garbage: true }],
    ['refuses the front door', { status: 403 }],
    ['finds the request invalid', { status: 400 }],
  ])('%s', async (_, fault) => {
    const pull = await newType(`2.${fault.status ?? 0}.0`);
    setup.backends.faults.add({ backend: 'typeRegistry', times: 1, ...fault });
    await expectFailure(setup, await pull(), 503, 'backend_unavailable', /look-up .* failed; nothing was invoked/);
    expect((await pull()).status).toBe(200);
  });

  it('is unavailable: invocations fail at once until it is back', async () => {
    const calls = await Promise.all([
      newType('3.0.0'),
      newType('3.0.1', 'gateway-1'),
      newType('3.0.2'),
      newType('3.0.3'),
    ]);
    const [first, second, third, fourth] = calls;
    setup.backends.faults.add({ backend: 'typeRegistry', status: 503 });
    for (const called of await Promise.all([first?.(), second?.(), third?.()]))
      expect(called?.error?.detail).toMatch(/^the type registry is unavailable; nothing was invoked/);
    expect(setup.lines.filter(({ msg }) => msg === 'backend is out, calls to it wait')).toHaveLength(1);
    const since = setup.backends.journal.last;
    await expectFailure(
      setup,
      (await fourth?.()) as CallResult,
      503,
      'backend_unavailable',
      /type registry is unavailable/,
    );
    expect(setup.backends.calls({ since }).filter(({ path }) => path.includes('winch'))).toEqual([]);
    expect((await setup.call(conveyor, 'stop')).status, 'a type that is remembered').toBe(200);
    setup.backends.faults.clear();
    await expect.poll(async () => (await fourth?.())?.status).toBe(200);
  });
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

describe('an information model with wrong responses', () => {
  const object = { objectId: '', model: 'svc.device', type: 'motor@1.0.0', path: 'motor-1' };
  let answer: unknown;
  let status = 200;
  const serve: RequestListener = (_, response) =>
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(answer));
  const liar = startForAll(() => listening(createServer(serve)));
  afterEach(() => {
    status = 200;
  });
  const deceived = startForAll(() =>
    startTestFrontDoor({ settings: { INFORMATION_MODEL_URL: `http://127.0.0.1:${liar.port}` } }),
  );

  it.each<[string, (objectId: string) => object]>([
    ['with a path that is not a string', (objectId) => ({ ...object, objectId, path: 7 })],
  ])('%s is reported as unavailable', async (_, made) => {
    answer = made(deceived.objectIdOf(conveyor));
    const called = await deceived.call(conveyor, 'stop');
    await expectFailure(deceived, called, 503, 'backend_unavailable', /not the object model/);
  });

  it('of an object with an endless path leaves a log line of usual length', async () => {
    const path = `motor-1/${'x'.repeat(30_000)}`;
    answer = { ...object, objectId: deceived.objectIdOf(conveyor), path };
    const called = await deceived.call(conveyor, 'no-such-method');
    const line = await expectFailure(deceived, called, 404, 'method_not_found', /declare/);
    expect(line['target']).toBe(`${'x'.repeat(255)}…`);
  });

  it.each([
    [401, 'unauthorized', /^the information model does not accept the token; get a new one$/],
    [403, 'forbidden', /^the caller may not invoke methods of this object$/],
    [404, 'object_not_found', /^the caller has no object model with this object id and model$/],
  ] as const)('of a refusal, HTTP %d, passes no word on to callers', async (refusal, reason, sentence) => {
    const { hub, backends, tokens } = deceived;
    status = refusal;
    const detail = `${hub.serviceConnectionString} ${backends.token.clientSecret} ${tokens.invoker} 127.0.0.1`;
    answer = { errors: [{ code: String(refusal), title: 'Refused', detail }] };
    await expectFailure(deceived, await deceived.call(conveyor, 'stop'), refusal, reason, sentence);
  });

  it.each([
    ['an invalid type', 'motor@latest/../x'],
    ['a type that does not exist', 'rocket@1.0.0'],
  ])('of %s', async (_, type) => {
    answer = { ...object, objectId: deceived.objectIdOf(conveyor), type };
    const sentence = new RegExp(`^the type registry does not know "${type}", the type of this object$`);
    await expectFailure(deceived, await deceived.call(conveyor, 'stop'), 404, 'type_not_found', sentence);
  });

  it.each([
    ['../motor-1/x', 'invalid_path'],
    // The type is read for the device, of which the registry has never heard.
    ['nobody/x', 'backend_unavailable'],
    [null, 'no_owner'],
  ] as const)('with the path %j', async (path, reason) => {
    answer = { ...object, objectId: deceived.objectIdOf(conveyor), path };
    const [status, sentence] = {
      invalid_path: [502, /segment, or control characters; nothing was invoked/],
      backend_unavailable: [503, /look-up .* failed/],
      no_owner: [409, /no device owns/],
    }[reason] as [number, RegExp];
    await expectFailure(deceived, await deceived.call(conveyor, 'stop'), status, reason, sentence, 'no');
  });
});
