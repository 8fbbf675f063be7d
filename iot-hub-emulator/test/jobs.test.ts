import { once } from 'node:events';
import iothub from 'azure-iothub';
import { describe, expect, onTestFinished, test } from 'vitest';
import { createJobs, type JobPlan } from '../src/jobs/jobs.ts';
import { Refusal } from '../src/values/refusal.ts';
import { nameOfError, viaAgent } from './support/clients.ts';
import { connectedDevice, publishPacket } from './support/device.ts';
import { deviceForEach, hubForAll } from './support/sharedHub.ts';

// Jobs, with the official client, and by themselves.

let deviceId = '';
const hub = hubForAll();
deviceForEach(hub, (id) => (deviceId = id));

const client = () =>
  viaAgent(hub, iothub.JobClient.fromConnectionString(hub.connectionString('service')) as never) as iothub.JobClient;
const condition = () => `deviceId IN ['${deviceId}', 'nobody']`;
let count = 0;
const newId = () => `job-${count++}`;
const ended = async (jobId: string, status = 'completed') => {
  await expect.poll(async () => (await client().getJob(jobId)).jobStatus.status).toBe(status);
  return (await client().getJob(jobId)).jobStatus;
};
const later = () => new Date(Date.now() + 3_600_000);

describe('the official client', () => {
  test('changes the twins of those devices for which a condition holds', async () => {
    const jobId = newId();
    hub.registry.create(`${deviceId}-b`);
    const patch = { etag: '*', tags: { key: 'value' }, properties: { desired: {}, reported: {} } };
    const { jobStatus: job } = await client().scheduleTwinUpdate(jobId, condition(), patch, new Date(), 120);
    expect(job).toMatchObject({ jobId, type: 'scheduleUpdateTwin', status: 'queued', updateTwin: patch });
    expect((await ended(jobId)).deviceJobStatistics).toEqual({
      ...{ deviceCount: 1, succeededCount: 1, failedCount: 0, runningCount: 0, pendingCount: 0 },
    });
    expect([hub.twins.get(deviceId).tags, hub.twins.get(`${deviceId}-b`).tags]).toEqual([{ key: 'value' }, {}]);
  });
  test('calls a method of devices; one that is not there has failed', async () => {
    const jobId = newId();
    hub.registry.create(`${deviceId}-b`);
    const device = await connectedDevice(hub, deviceId);
    onTestFinished(() => void device.socket.destroy());
    device.send({ cmd: 'subscribe', messageId: 1, subscriptions: [{ topic: '$iothub/methods/POST/#', qos: 0 }] });
    await device.next('suback');
    const call = { methodName: 'start', payload: { a: 1 }, responseTimeoutInSeconds: 30 };
    await client().scheduleDeviceMethod(jobId, `STARTSWITH(deviceId, '${deviceId}')`, call, new Date(), 120);
    const { topic, payload } = await device.next('publish');
    expect([topic.split('/')[3], payload.toString()]).toEqual(['start', '{"a":1}']);
    device.send(publishPacket(`$iothub/methods/res/200/?$rid=${/rid=(.*)/.exec(topic)?.[1]}`, ''));
    expect((await ended(jobId)).deviceJobStatistics).toMatchObject({
      deviceCount: 2,
      succeededCount: 1,
      failedCount: 1,
    });
  });
  test('cancels a job that waits, once', async () => {
    const jobId = newId();
    const { jobStatus } = await client().scheduleTwinUpdate(jobId, '*', { tags: { never: 1 } }, later(), 120);
    expect(jobStatus.status).toBe('queued');
    await client().cancelJob(jobId);
    await ended(jobId, 'cancelled');
    await expect(client().cancelJob(jobId)).rejects.toThrow();
    expect(hub.twins.get(deviceId).tags).toEqual({});
  });
  test('lists jobs by type and status', async () => {
    const jobId = newId();
    await client().scheduleTwinUpdate(jobId, '*', { tags: {} }, later(), 120);
    const all = async (type: string, status: string) => {
      const { result } = (await client()
        .createQuery(type as never, status as never)
        .next()) as never as { result: { jobId: string }[] };
      return result.map((job) => job.jobId);
    };
    expect(await all('scheduleUpdateTwin', 'queued')).toContain(jobId);
    expect(await all('scheduleDeviceMethod', 'queued')).not.toContain(jobId);
    expect(await all('scheduleUpdateTwin', 'completed')).not.toContain(jobId);
    await client().cancelJob(jobId);
  });
  test('is refused what is no job', async () => {
    const jobId = newId();
    await client().scheduleTwinUpdate(jobId, '*', { tags: {} }, later(), 120);
    const schedule = (id: string, where: string, patch: object) =>
      nameOfError(client().scheduleTwinUpdate(id, where, patch, later(), 120));
    expect(await schedule(newId(), 'deviceId LIKE 1', { tags: {} })).toBe('ArgumentError');
    expect(await schedule(newId(), '*', { tagz: {} })).toBe('ArgumentError');
    expect(await schedule(jobId, '*', { tags: {} })).not.toBe('none');
    expect(await nameOfError(client().getJob('unknown'))).not.toBe('none');
    await client().cancelJob(jobId);
  });
});

describe('jobs', () => {
  const now = () => 0;
  const plan = (jobId: string, more: Partial<JobPlan> = {}): JobPlan => ({
    ...{ jobId, type: 'scheduleUpdateTwin', startsAt: 0, longestMs: 60_000, described: {} },
    targets: () => ['a', 'b'],
    run: async () => undefined,
    ...more,
  });
  const until = (holds: () => boolean) => expect.poll(holds).toBe(true);

  test('run with ten devices at once', async () => {
    const begun: (() => void)[] = [];
    const run = () => new Promise<void>((resolve) => void begun.push(resolve));
    const jobs = createJobs(now);
    const job = jobs.schedule(plan('one', { targets: () => Array.from({ length: 12 }, (_, i) => String(i)), run }));
    await until(() => begun.length === 10);
    expect(job.devices).toEqual({ all: 12, pending: 2, running: 10, succeeded: 0, failed: 0 });
    begun[0]?.();
    await until(() => begun.length === 11);
    jobs.cancel('one');
    begun[1]?.();
    await until(() => job.devices.succeeded === 2);
    expect([begun.length, job.status, job.devices.pending]).toEqual([11, 'cancelled', 1]);
  });
  test('count devices as failed that refuse, or are not done in their time', async () => {
    const jobs = createJobs(now);
    const run = (id: string) =>
      id === 'a' ? Promise.reject(new Refusal('x', 'y')) : once(new EventTarget(), 'never').then(() => undefined);
    const job = jobs.schedule(plan('one', { run, longestMs: 50 }));
    await until(() => job.status === 'completed');
    expect(job.devices).toEqual({ all: 2, pending: 0, running: 0, succeeded: 0, failed: 2 });
  });
  test('are a thousand at most: the oldest that has ended goes, and none that waits', async () => {
    const jobs = createJobs(now);
    const waits = { startsAt: 1e12 };
    for (let i = 0; i < 1000; i += 1) jobs.schedule(plan(String(i), waits));
    expect(() => jobs.schedule(plan('more', waits))).toThrow('keeps 1000 jobs,');
    jobs.cancel('7');
    jobs.schedule(plan('more', waits));
    expect(() => jobs.get('7')).toThrow('There is no job');
    expect(jobs.list()).toHaveLength(1000);
    jobs.close();
  });
  test('have 16 MB in all', () => {
    const jobs = createJobs(now);
    const large = { startsAt: 1e12, described: { updateTwin: 'x'.repeat(3_000_000) } };
    for (const id of ['one', 'two']) jobs.schedule(plan(id, large));
    expect(() => jobs.schedule(plan('three', large))).toThrow('16777216 bytes in all');
    jobs.cancel('one');
    jobs.schedule(plan('three', large));
    expect(jobs.list().map((job) => job.plan.jobId)).toEqual(['three', 'two']);
    jobs.close();
  });
});
