import { describe, expect, it } from 'vitest';
import { createPartition } from '../../src/engine/partition.ts';
import type { Checkpoint } from '../../src/engine/progressTracker.ts';
import { createBacklog } from '../../src/engine/rooms.ts';
import { compactEvent, type HubEvent } from '../../src/protocol/event.ts';
import { backlogLimits } from '../../src/settings/constants.ts';
import { partitionShare } from '../../src/settings/derived.ts';
import { settings } from '../support/environment.ts';
import { hubEvent } from '../support/events.ts';
import { withOrderedTimers } from '../support/orderedTimers.ts';
import { budgetOf, limits, receivedMessageOf, usual } from './support/partitions.ts';

// One device that sends faster than it can be served, for minutes, among others. Time is the test's own.

const { maxMessages } = partitionShare(settings.delivery);

const tickMs = 100;
const handlingMs = 50;
const { pass } = withOrderedTimers();

/** @param floodMs each message of the flood takes so long */
function setUp(floodMs: number) {
  const handled = { others: [] as number[], f: [] as number[] };
  const written: Checkpoint[] = [];
  let slowest = 0;
  const partition = createPartition({
    ...usual,
    budget: budgetOf(maxMessages),
    backlog: createBacklog(backlogLimits),
    receivedMessageOf: (event) => receivedMessageOf(compactEvent(event)),
    async dispatch({ event: { sequenceNumber, properties }, deviceId }) {
      await new Promise((resolve) => setTimeout(resolve, deviceId === 'f' ? floodMs : handlingMs));
      if (deviceId === 'f') handled.f.push(sequenceNumber);
      else {
        handled.others.push(sequenceNumber);
        slowest = Math.max(slowest, Date.now() - Number(properties?.['sentAt']));
      }
      return true;
    },
    async checkpoint(next) {
      written.push(next);
      return true;
    },
    limits,
  });
  return { partition, handled, written, slowest: () => slowest };
}
type Partition = ReturnType<typeof setUp>['partition'];

/** Sends what `devicesOf` says of each tick, for so many seconds. Answers the sequence numbers of `f` and of the others. */
async function send(partition: Partition, seconds: number, devicesOf: (tick: number) => string[]) {
  const sent = { f: [] as number[], others: [] as number[], events: [] as HubEvent[] };
  for (let tick = 0; tick < (seconds * 1000) / tickMs; tick += 1) {
    const events = devicesOf(tick).map((device, index) => {
      const sequenceNumber = sent.events.length + index;
      sent[device === 'f' ? 'f' : 'others'].push(sequenceNumber);
      return hubEvent({ sequenceNumber, body: '1', properties: { device, sentAt: Date.now() } });
    });
    sent.events.push(...events);
    void partition.admit(events);
    await pass(tickMs);
  }
  return sent;
}

const others = (count: number) => Array.from({ length: count }, (_, index) => `d${index}`);
/** 1,000 a second, of which each tenth is the flood's. */
const oneInTen = () => others(100).map((device, index) => (index % 10 === 0 ? 'f' : device));

describe('during a flood of one device for minutes', () => {
  it('the other messages are handled without delay, and the flood in order afterwards', async () => {
    const { partition, handled, written, slowest } = setUp(handlingMs);
    const sent = await send(partition, 120, oneInTen);
    expect([sent.others.length, handled.others.length, slowest()]).toEqual([108_000, 108_000, handlingMs]);
    expect(handled.f.length).toBeLessThan(sent.f.length / 4);
    await pass(sent.f.length * handlingMs);
    expect(handled.f).toEqual(sent.f);
    const stopped = partition.drain(1_000);
    await pass(1_000);
    await stopped;
    expect(written.at(-1)).toMatchObject({ sequenceNumber: sent.events.length - 1, completed: '' });
  });

  it('the other messages are handled without delay even if each message of the flood takes five seconds', async () => {
    const { partition, handled, slowest } = setUp(5_000);
    const fourASecond = (tick: number) => [...(tick % 5 === 0 || tick % 5 === 2 ? ['f'] : []), ...others(10)];
    const sent = await send(partition, 300, fourASecond);
    expect([sent.f.length, handled.f.length]).toEqual([1_200, 60]);
    expect([handled.others.length, slowest()]).toEqual([sent.others.length, handlingMs]);
  });
});
