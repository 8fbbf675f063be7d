import { afterEach, describe, expect, it } from 'vitest';
import { startForAll, startForTest } from '../../iot-hub-emulator/test/support/fixtures.ts';
import type { FaultRequest } from '../../sandbox/backends/calls/faults.ts';
import { expectFailure } from './support/expectFailure.ts';
import { methodDevice, succeed } from './support/methodDevice.ts';
import { type CallResult, conveyor, startTestFrontDoor } from './support/testFrontDoor.ts';

// Information model or type registry is offline, or sends invalid responses (M2, M8); more in objectForCaller.test.ts.

const setup = startForAll(() =>
  startTestFrontDoor({ settings: { BACKENDS_ATTEMPT_TIMEOUT_SECONDS: '3', BACKENDS_CACHE_SECONDS: '1' } }),
);
void startForAll(() => methodDevice(setup.hub, 'motor-1', succeed));
afterEach(() => setup.backends.faults.clear());

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
    expect((await setup.call(conveyor, 'stop')).status).toBe(200);
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
