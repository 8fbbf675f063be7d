import { setImmediate as turn } from 'node:timers/promises';
import { describe, expect, it, vi } from 'vitest';
import { startForTest } from '../../iot-hub-emulator/test/support/fixtures.ts';
import { type Traces, unrecorded } from '../../src/observing/observation.ts';
import { expectFailure } from './support/expectFailure.ts';
import { methodDevice, succeed } from './support/methodDevice.ts';
import { conveyor, flap, startTestFrontDoor } from './support/testFrontDoor.ts';

// Many requests at once: the limit of a device, the total limit, and a stop under load (M8, M1).

it('a slow device has a limit of invocations, one of which is kept for others while they ask; other devices are not affected {S23.9}', async () => {
  const setup = await startForTest(startTestFrontDoor({ limits: { inFlightPerDevice: 3 } }));
  const motor = await startForTest(methodDevice(setup.hub, 'motor-1'));
  await startForTest(methodDevice(setup.hub, 'gateway-1', succeed));
  const token = setup.backends.applications.issue({ name: 'night-shift', tenant: 'acme', mayInvoke: true }, 600);
  const slow = [1, 2, 3].map(() => setup.call(conveyor, 'stop'));
  const calls = [await motor.next(), await motor.next(), await motor.next()];
  const early = await setup.call(conveyor, 'stop', {}, { token });
  await expectFailure(setup, early, 503, 'overloaded', /^the device has 3 invocations in progress, which is its limit/);
  expect(early.headers['retry-after']).toBe('1');
  expect((await setup.call(flap, 'stop')).status).toBe(200);

  calls.shift()?.respond(200, { status: 1 });
  await Promise.race(slow);
  const greedy = await setup.call(conveyor, 'stop');
  await expectFailure(setup, greedy, 503, 'overloaded', /^the caller has 2 .* its limit while others ask/);
  const other = setup.call(conveyor, 'stop', {}, { token });
  calls.push(await motor.next());
  for (const call of calls) call.respond(200, { status: 2 });
  expect((await Promise.all([...slow, other])).map(({ status }) => status)).toEqual([200, 200, 200, 200]);
});

describe('the front door', () => {
  it('accepts as many invocations at once as its limit, refuses one more, and accepts new ones afterwards', async () => {
    const inFlight = 100;
    const setup = await startForTest(startTestFrontDoor({ limits: { inFlight, inFlightPerDevice: inFlight } }));
    const motor = await startForTest(methodDevice(setup.hub, 'motor-1'));
    const calling: ReturnType<typeof setup.call>[] = [];
    // One after the other: caller and front door share this process, and each has ten seconds until it is in progress.
    while (calling.length < inFlight) {
      const call = setup.call(conveyor, 'stop', { timeout: 300 });
      calling.push(call);
      const early = call.then(({ text }) => Promise.reject(new Error(`answered too early: ${text}`)));
      await Promise.race([motor.next(), early]);
    }
    const refused = await setup.call(flap, 'stop');
    await expectFailure(setup, refused, 503, 'overloaded', /too many invocations in progress/);
    for (const [index, call] of motor.received.entries()) call.respond(200, { status: index });
    const answers = await Promise.all(calling);
    expect(answers.filter(({ status }) => status !== 200).map(({ text }) => text)).toEqual([]);
    expect(new Set(answers.map(({ json }) => json.status)).size).toBe(inFlight);

    const again = setup.call(conveyor, 'stop');
    (await motor.next()).respond(200, { status: 0 });
    expect((await again).status).toBe(200);
  });

  it('that stops finishes the invocations in progress and refuses new ones', async () => {
    const setup = await startForTest(startTestFrontDoor({ settings: { METHODS_DRAIN_SECONDS: '20' } }));
    const motor = await startForTest(methodDevice(setup.hub, 'motor-1'));
    const calling = [1, 2, 3].map(() => setup.call(conveyor, 'stop'));
    const calls = [await motor.next(), await motor.next(), await motor.next()];
    const stopped = setup.instance.stop();
    await expect(fetch(`${setup.url}/openapi.json`)).rejects.toThrow();
    const readyz = await fetch(`http://127.0.0.1:${setup.instance.healthPort}/readyz`);
    const expected = [503, { waitingFor: expect.arrayContaining(['the end of the stop']) }];
    expect([readyz.status, await readyz.json()]).toMatchObject(expected);
    for (const call of calls) call.respond(200, { status: 7 });
    for (const answered of await Promise.all(calling))
      expect([answered.json, answered.headers['connection']]).toEqual([{ status: 7 }, 'close']);
    await stopped;
  });

  it('that stops is over 750 ms after its drain time, also when the drain takes it and a collector is silent', async () => {
    const closes = [new Promise<void>(() => {})];
    const traces: Traces = { begin: ({ traceId }) => unrecorded(traceId), close: async () => closes.shift() };
    const setup = await startForTest(startTestFrontDoor({ settings: { METHODS_DRAIN_SECONDS: '1' }, traces }));
    const motor = await startForTest(methodDevice(setup.hub, 'motor-1'));
    const calling = setup.call(conveyor, 'stop', { timeout: 300 });
    await motor.next();
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
    let isOver = false;
    const stopped = setup.instance.stop().then(() => {
      isOver = true;
    });
    for (let ms = 0; ms < 1_750; ms += 50) {
      await vi.advanceTimersByTimeAsync(50);
      for (let turns = 0; turns < 20; turns += 1) await turn();
    }
    expect([isOver, setup.lines.at(-1)?.['msg']]).toEqual([true, 'stopped']);
    vi.useRealTimers();
    await Promise.all([stopped, calling.catch(() => {})]);
  });
});
