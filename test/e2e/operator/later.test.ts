import { afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { Device } from '../../../sandbox/device/device.ts';
import { envelope } from '../../../sandbox/stories/wire.ts';
import { withConstants } from '../../support/processes.ts';
import { deviceForAll, nextAck, sandboxForAll } from '../testSandbox.ts';
import { createDesk, createSenders, type Line, operatorsToken, publicKey } from './desk.ts';

// What an operator asks when it is over, answered by the lines of the log that are about a device and a time.

const sandbox = sandboxForAll({
  environment: {
    ADMIN_TOKEN: operatorsToken,
    BACKENDS_ATTEMPT_TIMEOUT_SECONDS: '5',
    ...withConstants({ timing: { replySeconds: 1 } }),
  },
});
const pump = deviceForAll(sandbox);
let desk: ReturnType<typeof createDesk>;
let senders: ReturnType<typeof createSenders>;
beforeAll(async () => {
  desk = createDesk(sandbox.state.service);
  senders = createSenders(sandbox);
  for (const device of ['deaf', 'modest', 'failing', 'early']) await (await sandbox.connect(device)).close();
});
afterEach(async () => {
  sandbox.backends.faults.clear();
  expect(await desk.isAlive()).toBe(true);
});

/** The lines about the messages of a device since then. */
async function handled(device: string, since: number): Promise<Line[]> {
  const lines = await desk.log();
  const own = lines.filter((line) => line['msg'] === 'handled' && line['device'] === device);
  return own.filter(({ time }) => Date.parse(String(time)) >= since);
}

const sendAs = async (device: Device, properties: Record<string, string>) => {
  await device.send(properties, Buffer.from(JSON.stringify({ publicKey })));
};

describe('Why did a device get no answer at that time? The log shows that', () => {
  it('its queue was full because it does not fetch', async () => {
    const since = Date.now();
    senders.renewKeys('deaf', 52);
    await expect.poll(async () => (await handled('deaf', since)).length).toBe(52);
    const lines = await handled('deaf', since);
    expect(lines.filter(({ replies }) => replies === 1)).toHaveLength(50);
    expect(lines.filter(({ replies }) => replies === 0)).toEqual(
      Array(2).fill(
        expect.objectContaining({
          level: 'warn',
          code: 'ok',
          dropped: [{ kind: 'acknowledgement', device: 'deaf', reason: 'queue_full' }],
        }),
      ),
    );
  });
  it('it requested none', async () => {
    const since = Date.now();
    senders.renewKeys('modest', 1, 'none');
    await expect.poll(() => handled('modest', since)).toMatchObject([{ code: 'ok', ack: 'none', replies: 0 }]);
  });
  it('its message failed on the service’s side, and is a dead letter', async () => {
    const since = Date.now();
    sandbox.backends.faults.add({ backend: 'principalManager', method: 'PUT', status: 501, deviceId: 'failing' });
    senders.renewKeys('failing', 1, 'positive');
    await expect
      .poll(() => handled('failing', since))
      .toMatchObject([{ code: 'internal_platform_error', ack: 'positive', replies: 0, details: expect.any(String) }]);
    expect(await desk.metric('device_messaging_dead_letters_total', { device_messaging_result: 'parked' })).toBe(1);
  });
  it('a backend was out: the line has the wait of the message, and others have when and why', async () => {
    const since = Date.now();
    sandbox.backends.faults.add({ backend: 'principalManager', status: 503 });
    for (let device = 0; device < 10; device += 1) {
      sandbox.backends.world.principals.createDevice(`finder-${device}`, 'acme');
      senders.renewKeys(`finder-${device}`, 1, 'none');
    }
    await expect.poll(() => desk.metric('device_messaging_backend_out')).toBe(1);
    senders.renewKeys('early', 1);
    await expect.poll(() => desk.deviceWork('early')).toBeDefined();
    sandbox.backends.faults.clear();
    await expect.poll(() => handled('early', since)).toMatchObject([{ code: 'ok', replies: 1 }]);
    const [line] = await handled('early', since);
    const log = await desk.log();
    const at = (event: string) => Date.parse(String(log.find((one) => one['event'] === event)?.['time']));
    expect(log.find(({ event }) => event === 'backend.out')).toMatchObject({ backend: 'principal manager' });
    const end = Date.parse(String(line?.['time']));
    expect(end - Number(line?.['laneWaitMs'])).toBeGreaterThanOrEqual(at('backend.out'));
    expect(at('backend.back')).toBeLessThanOrEqual(end);
  });
  it('it misspelt a property: at debug, which the admin port switches on', async () => {
    await fetch(`${sandbox.state.service.adminUrl}/level`, {
      method: 'PUT',
      headers: { authorization: `Bearer ${operatorsToken}`, 'content-type': 'application/json' },
      body: '{"level":"debug"}',
    });
    const since = Date.now();
    const { msgType: _, ...rest } = envelope('identity.update', 'misspelt');
    await sendAs(pump, { ...rest, msgtype: 'action' });
    await sendAs(pump, envelope('identity.update', 'after'));
    await nextAck(pump);
    await expect
      .poll(async () => (await handled('pump-1', since)).map(({ correlationId }) => correlationId))
      .toEqual(['after']);
    const hints = (await desk.log()).filter((line) => line['msg'] === 'message with a misspelt property');
    const hint = expect.stringContaining('property msgType must be spelt like this');
    expect(hints).toMatchObject([{ device: 'pump-1', hint }]);
  });
});
