import { EventHubConsumerClient } from '@azure/event-hubs';
import { type Hub, startHub } from 'iot-hub-emulator';
import { inject } from 'iot-hub-emulator/testing';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { firstEventTime } from '../../src/hub/reading/firstEvent.ts';
import { cureHubSdks } from '../../src/hub/sdkCures.ts';

cureHubSdks();

// What tells how far a partition is behind that nobody reads (D310): of a real client, from the hub.

const hour = 3_600_000;
const ages = [3, 2, 1]; // hours
let aheadMs = 0;
let hub: Hub;
beforeAll(async () => {
  hub = await startHub({ partitions: 2, now: () => Date.now() + aheadMs });
  for (const age of ages) {
    aheadMs = -age * hour;
    await inject(hub, [`of ${age} hours ago`]);
  }
  aheadMs = 0;
});
afterAll(() => hub?.close());

const clientOf = () => new EventHubConsumerClient('$Default', hub.eventsConnectionString);
const first = (partition: string, after?: number) =>
  firstEventTime(
    clientOf(),
    partition,
    after === undefined ? undefined : String(hub.partitions[0]?.at(after)?.offset),
    20_000,
  );
const hoursAgo = (time: Date | undefined) => time && Math.round((Date.now() - time.getTime()) / hour);

it('the time is that of the oldest event when none is done', async () => {
  const found = await first('0');
  expect(found?.getTime()).toBe(hub.partitions[0]?.at(0)?.enqueuedTime);
  expect(hoursAgo(found)).toBe(3);
});

it.each([
  [0, 2],
  [1, 1],
])('the time is that of the event after the done ones: after number %i, of %i hours ago', async (done, hours) => {
  const found = await first('0', done);
  expect(found?.getTime()).toBe(hub.partitions[0]?.at(done + 1)?.enqueuedTime);
  expect(hoursAgo(found)).toBe(hours);
});

it('there is no time when there is no event', async () =>
  expect(await Promise.all([first('0', 2), first('1')])).toEqual([undefined, undefined]));

it('the read is refused at once while an instance reads the partition', async () => {
  const reader = clientOf();
  const isReading = new Promise<void>((resolve) => {
    reader.subscribe(
      '0',
      { processEvents: async () => resolve(), processError: async () => {} },
      { ownerLevel: 1, startPosition: { offset: '-1' }, maxWaitTimeInSeconds: 0.5 },
    );
  });
  await isReading;
  await expect(first('0')).rejects.toThrow(/receiver|epoch|owner/i);
  await reader.close();
});

it('a read leaves no connection, also when it is refused', async () => {
  await Promise.allSettled([first('0'), firstEventTime(clientOf(), 'none', undefined, 20_000)]);
  await expect.poll(() => hub.counters().connections.all).toBe(0);
});
