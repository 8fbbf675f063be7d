import { EventHubConsumerClient, type ReceivedEventData } from '@azure/event-hubs';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { hubForEach } from '../../iot-hub-emulator/test/support/sharedHub.ts';
import { receiveAtOnce } from '../../src/hub/receiveCycle.ts';
import { cureHubSdks } from '../../src/hub/sdkCures.ts';
import { createRandom } from '../chaos/random.ts';
import { firstSeeds } from '../support/seed.ts';
import { signal } from '../support/waiting.ts';
import { append } from '../traps/support/plain.ts';

cureHubSdks();

let client: EventHubConsumerClient;
const hub = hubForEach({ devices: [{ deviceId: 'pump-1' }], partitions: 1 });
beforeEach(() => {
  client = new EventHubConsumerClient('$Default', hub.eventsConnectionString);
  receiveAtOnce(client);
});
afterEach(async () => {
  vi.useRealTimers();
  await client.close();
});

const textOf = ({ body }: ReceivedEventData) => String(body);

function read(processEvents: (events: readonly string[]) => Promise<void>, errors: string[] = [], waitSeconds = 0.5) {
  const handlers = {
    processEvents: (events: ReceivedEventData[]) => processEvents(events.map(textOf)),
    processError: async (error: Error) => void errors.push(error.name),
  };
  const startPosition = { offset: '-1' };
  const options = { startPosition, maxBatchSize: 50, prefetchCount: 100, ownerLevel: 1, skipParsingBodyAsJson: true };
  return client.subscribe('0', handlers, { ...options, maxWaitTimeInSeconds: waitSeconds });
}

it('an event is delivered when it comes, even if no timer of the client ends', async () => {
  const seen: string[] = [];
  let rounds = 0;
  const subscription = read(async (events) => {
    rounds += 1;
    seen.push(...events);
  });
  await expect.poll(() => rounds).toBeGreaterThan(0); // the first cycle is the client's own
  vi.useFakeTimers({ toFake: ['setTimeout', 'setInterval'] });
  append(hub, 'first');
  await vi.waitUntil(() => seen.length === 1, { timeout: 60_000, interval: 0 });
  append(hub, 'second');
  await vi.waitUntil(() => seen.length === 2, { timeout: 60_000, interval: 0 });
  vi.useRealTimers();
  expect(seen).toEqual(['first', 'second']);
  await subscription.close();
});

it('an idle partition is reported when its link is open, and then every two seconds', async () => {
  let rounds = 0;
  const count = async () => {
    rounds += 1;
  };
  const subscription = read(count, [], 0.001);
  await expect.poll(() => rounds).toBeGreaterThan(0);
  const reported = rounds;
  vi.useFakeTimers({ toFake: ['setTimeout'] });
  await vi.waitUntil(() => rounds > reported, { timeout: 60_000, interval: 0 }); // its timer was begun before
  await vi.waitUntil(() => vi.getTimerCount() > 0, { timeout: 60_000, interval: 0 });
  await vi.advanceTimersByTimeAsync(1_999);
  expect(rounds).toBe(reported + 1);
  await vi.advanceTimersByTimeAsync(1);
  expect(rounds).toBe(reported + 2);
  vi.useRealTimers();
  await subscription.close();
});

it('an event is delivered when it comes, even if events come without a pause', async () => {
  const seen: string[] = [];
  let sent = 0;
  const trickle = () => append(hub, `e${sent++}`);
  trickle();
  const timer = setInterval(trickle, 5);
  const subscription = read(async (events) => void seen.push(...events));
  await vi.waitUntil(() => seen.length > 200, { timeout: 60_000, interval: 5 });
  clearInterval(timer);
  expect(hub.counters().receivers[0]?.credit).toBeLessThanOrEqual(100);
  vi.useFakeTimers({ toFake: ['setTimeout', 'setInterval'] });
  for (let left = 3; left > 0; left -= 1) {
    trickle(); // a timer of before may still hand over the first one
    await vi.waitUntil(() => seen.length === sent, { timeout: 60_000, interval: 0 });
  }
  vi.useRealTimers();
  expect(seen).toEqual(Array.from({ length: sent }, (_, number) => `e${number}`));
  await subscription.close();
});

it.each(firstSeeds(4))('each event is delivered once, in order, however long batches take: seed %i', async (seed) => {
  const random = createRandom(seed);
  const total = 3_000;
  const seen: string[] = [];
  let mostAtOnce = 0;
  const subscription = read(async (events) => {
    mostAtOnce = Math.max(mostAtOnce, events.length);
    seen.push(...events);
    const turns = random.between(0, 3) === 0 ? random.between(0, 59) : 0;
    for (let turn = 0; turn < turns; turn += 1) await new Promise((resolve) => setTimeout(resolve, 1));
  });
  for (let sent = 0; sent < total; ) {
    for (let left = random.between(0, 299); left >= 0 && sent < total; left -= 1) append(hub, `e${sent++}`);
    await new Promise((resolve) => setTimeout(resolve, random.between(0, 39)));
  }
  await expect.poll(() => seen.length).toBeGreaterThanOrEqual(total);
  expect(seen).toEqual(Array.from({ length: total }, (_, index) => `e${index}`));
  expect(mostAtOnce).toBeLessThanOrEqual(50);
  await subscription.close();
});

it('the client holds no more events than the prefetch while the consumer is busy', async () => {
  const { given: busy, give: release } = signal();
  const seen: string[] = [];
  const subscription = read(async (events) => {
    seen.push(...events);
    if (events.length > 0) await busy;
  });
  await expect.poll(() => hub.counters().receivers[0]?.credit).toBe(100);
  for (let sent = 0; sent < 1_000; sent += 1) append(hub, `e${sent}`);
  await expect.poll(() => hub.counters().receivers[0]?.credit).toBe(0);
  expect(hub.counters().receivers[0]?.delivered).toBeLessThanOrEqual(200);
  release();
  await expect.poll(() => seen.length).toBe(1_000);
  await subscription.close();
});

it('the client continues with the next event after a lost connection', async () => {
  const seen: string[] = [];
  const subscription = read(async (events) => void seen.push(...events));
  append(hub, 'before');
  await expect.poll(() => seen).toEqual(['before']);
  await hub.faults.strike({ kind: 'close', connections: 'events' });
  append(hub, 'after');
  await expect.poll(() => seen).toEqual(['before', 'after']);
  await subscription.close();
});

it('the client reports that another reader has taken the partition', async () => {
  const errors: string[] = [];
  let rounds = 0;
  const subscription = read(async () => {
    rounds += 1;
  }, errors);
  await expect.poll(() => rounds).toBeGreaterThan(1);
  const other = new EventHubConsumerClient('$Default', hub.eventsConnectionString);
  const its = other.subscribe('0', { processEvents: async () => {}, processError: async () => {} }, { ownerLevel: 2 });
  await expect.poll(() => errors).not.toEqual([]);
  await its.close();
  await other.close();
  await subscription.close();
});

it('a client of another version is refused', () => {
  const other = new EventHubConsumerClient('$Default', hub.eventsConnectionString);
  const { options } = Reflect.get(other, '_context').connection;
  options.properties = { ...options.properties, version: '6.1.0' };
  expect(() => receiveAtOnce(other)).toThrow('corrects @azure/event-hubs 6.0.4, and this is 6.1.0');
  return other.close();
});
