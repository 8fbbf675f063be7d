import { afterEach, beforeAll, describe, expect, it } from 'vitest';
import { withConstants } from '../../support/processes.ts';
import { sandboxForAll } from '../testSandbox.ts';
import { createDesk, createSenders, operatorsToken } from './desk.ts';

// What an operator asks while something is wrong, answered by the admin port.

const sandbox = sandboxForAll({
  environment: {
    ADMIN_TOKEN: operatorsToken,
    BACKENDS_ATTEMPT_TIMEOUT_SECONDS: '20',
    ...withConstants({ timing: { replySeconds: 6 } }),
  },
});
let desk: ReturnType<typeof createDesk>;
let senders: ReturnType<typeof createSenders>;
beforeAll(async () => {
  desk = createDesk(sandbox.state.service);
  senders = createSenders(sandbox);
  for (const device of ['stuck', 'deaf', 'waiter']) await (await sandbox.connect(device)).close();
});
afterEach(async () => {
  sandbox.backends.faults.clear();
  expect(await desk.isAlive()).toBe(true); // none of this troubles the process itself
});

describe('The admin port answers:', () => {
  it('What is stuck? A device behind a backend that hangs, since when, and how many messages wait behind it', async () => {
    sandbox.backends.faults.add({ backend: 'informationModel', deviceId: 'stuck', hang: true });
    senders.replaceModels('stuck', 3);
    await expect
      .poll(() => desk.deviceWork('stuck'))
      .toMatchObject({
        messages: 3,
        state: 'in flight',
        waitsFor: expect.stringMatching(/^an answer of the information model \(/),
        oldest: { seconds: expect.any(Number) },
      });
    const { partition, oldest, begun } = await desk.deviceWork('stuck');
    const { partitions } = await desk.ask('/partitions');
    const own = partitions.find((one: { partition: string }) => one.partition === partition);
    expect(own).toMatchObject({
      ...{ state: 'reading', inFlight: 1, waiting: 2, devices: 1 },
      oldest: { device: 'stuck', sequenceNumber: oldest.sequenceNumber },
    });
    expect(Date.parse(begun.since)).toBeGreaterThanOrEqual(Date.parse(oldest.readAt) - 1); // rounded at different instants
    const { informationModel } = await desk.ask('/backends');
    expect(informationModel).toMatchObject({ circuit: 'closed', connections: { inUse: 1, waiting: 0 } });
    await expect.poll(() => desk.metric('device_messaging_partition_oldest_duration')).toBeGreaterThan(1);
  });
  it('Who does not fetch? A device whose replies wait for room in its queue; later it is listed', async () => {
    senders.renewKeys('deaf', 60);
    const waitsFor = expect.stringContaining('room in the queue of the device');
    await expect.poll(() => desk.deviceWork('deaf')).toMatchObject({ waitsFor });
    expect((await desk.ask('/devices')).fullQueues).toMatchObject({
      devices: [{ device: 'deaf', replies: 1 }],
      further: 0,
    });
    const notFetching = async () => (await desk.ask('/devices?device=deaf')).notFetching;
    await expect.poll(notFetching).toEqual({ devices: ['deaf'], further: 0 });
    expect(await desk.ask('/replies')).toMatchObject({ connected: true, notFetching: 1 });
  });
  it('Which backend is out? It lists the waiting devices, while the service is ready', async () => {
    sandbox.backends.faults.add({ backend: 'principalManager', status: 503 });
    for (let device = 0; device < 10; device += 1) {
      sandbox.backends.world.principals.createDevice(`finder-${device}`, 'acme');
      senders.renewKeys(`finder-${device}`, 1, 'none');
    }
    const principalManager = { circuit: 'open', outage: { failure: 'HTTP 503' } };
    await expect.poll(() => desk.ask('/backends')).toMatchObject({ principalManager });
    senders.renewKeys('waiter', 1, 'none');
    const waits = { state: 'waits for backends', waitsFor: 'a backend that is out: principalManager' };
    await expect.poll(() => desk.deviceWork('waiter')).toMatchObject(waits);
    expect(await desk.isReady()).toBe(true);
    sandbox.backends.faults.clear();
    await expect.poll(() => desk.deviceWork('waiter')).toBeUndefined();
  });
  it('Which instance is this? It shows the build and the settings', async () => {
    const { program, instance, version, paths } = await desk.ask('/');
    expect((await desk.log()).map((line) => line['instance'])).toContain(instance);
    expect([program, version]).toEqual(['service', expect.stringMatching(/^\d/)]);
    expect(Object.keys(paths)).toContain('GET /devices');
    expect((await desk.ask('/settings')).replies).toEqual({ sendsPerMinute: 0, fullQueueBytes: 33_554_432 });
  });
  it('No request without the token', async () => {
    for (const path of ['/', '/settings', '/devices', '/tap?device=stuck'])
      expect((await fetch(sandbox.state.service.adminUrl + path)).status).toBe(401);
  });
});
