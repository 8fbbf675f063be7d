import { setImmediate as turn } from 'node:timers/promises';
import { describe, expect, it, vi } from 'vitest';
import { startForTest } from '../../iot-hub-emulator/test/support/fixtures.ts';
import { type Traces, unrecorded } from '../../src/observing/observation.ts';
import { expectFailure } from './support/expectFailure.ts';
import { methodDevice, succeed } from './support/methodDevice.ts';
import { conveyor, flap, startTestFrontDoor } from './support/testFrontDoor.ts';

// Many requests at once: the limit of a device, and a stop under load; the total limit is among the tests of programs (M8, M1).

it('a slow device has a limit of invocations, one of which is kept for others while they ask; other devices are not affected {S23.9}', async () => {
  const setup = await startForTest(startTestFrontDoor({ inFlightPerDevice: 3 }));
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
