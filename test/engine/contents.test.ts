import { describe, expect, it, vi } from 'vitest';
import type { Dependencies } from '../../src/engine/lanes.ts';
import type { Checkpoint } from '../../src/engine/progressTracker.ts';
import { createTurnstile } from '../../src/engine/quarantine.ts';
import { createLog } from '../../src/observing/log.ts';
import { beginStep } from '../../src/observing/observation.ts';
import type { Stage } from '../../src/observing/taps.ts';
import { hubEvent } from '../support/events.ts';
import { courseOf } from '../support/observed.ts';
import { withFakeTimers } from '../support/waiting.ts';
import { backlogOf, budgetOf, events, partitionByHand, partitionWith } from './support/partitions.ts';

withFakeTimers();

const noted = (note: string) => ({
  progress: { sequenceNumber: -1, offset: '-1', completed: '', note },
  quarantine: { mostSuspects: 10, turnstile: createTurnstile(), log: createLog('silent') },
});

describe('the partition state for operators', () => {
  it('is empty before the first message and after the last', async () => {
    const { partition, end } = partitionByHand();
    const empty = { inFlight: 0, sleeping: 0, waiting: 0, devices: 0, oldest: undefined, suspects: 0 };
    const state = { sequenceNumber: undefined, ageSeconds: 0, failures: 0, isFailing: false, unwritten: 0 };
    expect(partition.contents()).toEqual({ ...empty, checkpoint: state });
    await partition.admit(events('a1'));
    await end(1);
    await partition.drain(0);
    expect(partition.contents()).toEqual({ ...empty, checkpoint: { ...state, sequenceNumber: 1 } });
  });

  it('has the messages in flight, those that wait, and the number of their devices', async () => {
    const { partition } = await partitionWith('a1 a2 a3 b4');
    expect(partition.contents()).toMatchObject({ inFlight: 2, sleeping: 0, waiting: 2, devices: 2 });
  });

  it('has the oldest unfinished message of all devices', async () => {
    const { partition, end } = await partitionWith('b1');
    const readAt = performance.now();
    await vi.advanceTimersByTimeAsync(1_000);
    await partition.admit(events('a2 b3'));
    expect(partition.contents().oldest).toEqual({ device: 'b', sequenceNumber: 1, readAt });
    await end(1);
    expect(partition.contents().oldest).toEqual({ device: 'a', sequenceNumber: 2, readAt: readAt + 1_000 });
    await end(2);
    expect(partition.contents().oldest).toMatchObject({ device: 'b', sequenceNumber: 3 });
  });
});

const settle = () => vi.advanceTimersByTimeAsync(0);

describe('the device state for operators', () => {
  it('has the oldest message, its step, and the number of messages', async () => {
    const { partition, stays, end } = await partitionWith('a1 a2 a3 b4');
    const observation = courseOf();
    stays[0]?.begins?.(observation);
    const step = beginStep(observation.open, 'call', 'replace object model', 'information model');
    step.waitsFor = 'answer';
    expect(partition.devices(undefined).map(({ device }) => device)).toEqual(['a', 'b']);
    expect(partition.devices('a')).toEqual([
      {
        ...{ device: 'a', messages: 3, sequenceNumber: 1, readAt: performance.now(), begunAt: performance.now() },
        ...{ state: 'in flight', needs: [], steps: [step] },
      },
    ]);
    await end(1);
    expect(partition.devices('a')).toMatchObject([{ messages: 2, sequenceNumber: 2, begunAt: undefined, steps: [] }]);
    expect(partition.devices('c')).toEqual([]);
  });

  it('shows that it waits for room behind another device', async () => {
    const { partition, budget, end } = await partitionWith('a1 b2 a3 b4', { budget: budgetOf(2) });
    for (let places = 0; places < 2; places += 1) void budget.all.take(1);
    await end(1);
    await end(2);
    expect(partition.devices(undefined)).toMatchObject([
      { device: 'a', sequenceNumber: 3, state: 'waits for room' },
      { device: 'b', sequenceNumber: 4, state: 'waits for room' },
    ]);
  });

  it('shows the backends that it waits for', async () => {
    const dependencies: Dependencies = {
      needs: ['informationModel'],
      areAvailable: () => false,
      met: () => new Promise(() => {}),
    };
    const { partition } = await partitionWith('a1 a2', { dependenciesOf: () => dependencies });
    expect(partition.devices('a')).toMatchObject([
      { messages: 2, state: 'waits for backends', needs: ['informationModel'] },
    ]);
  });

  it('shows that it waits for an isolated run, because it may have ended the process (G4)', async () => {
    const { partition, stays, end } = partitionByHand(noted('2 2 1 - -'));
    await partition.admit(events('a0'));
    await settle();
    await partition.admit(events('b1'));
    await settle();
    stays[0]?.begins?.(courseOf());
    expect(partition.devices(undefined)).toMatchObject([
      { device: 'a', state: 'in flight' },
      { device: 'b', state: 'waits for its turn' },
    ]);
    expect(partition.contents().suspects).toBe(2);
    await end(0);
    await settle();
    expect(partition.contents().suspects).toBe(1);
  });
});

/** What is told at one stage, each with the sequence number of its message. */
function followed(stage: Stage, given: Parameters<typeof partitionByHand>[0] = {}) {
  const told: [sequenceNumber: number, fields: object][] = [];
  const { partition, started, end } = partitionByHand({
    ...given,
    publisherOf:
      ({ event: { sequenceNumber } }) =>
      (now, fields) => {
        if (now === stage) told.push([sequenceNumber, fields]);
      },
  });
  return { partition, started, end, told };
}

describe('a tap on a device gets each message that was read', () => {
  const event = hubEvent({ sequenceNumber: 1, properties: { device: 'a', n: 7 }, body: 'ü' });

  it.each([
    ['its time in the hub', 1_500, 1_500],
    ['a time of zero in the hub when the clocks differ', -1_000, 0],
  ])('with %s, its bytes and its properties as text', async (_, later, hubWaitMs) => {
    vi.setSystemTime(event.enqueuedTimeUtc.getTime() + later);
    const { partition, told } = followed('read');
    await partition.admit([event]);
    expect(told).toEqual([[1, { hubWaitMs, bytes: 2, properties: { device: 'a', n: '7' } }]]);
  });

  it('without a body when its body is not binary', async () => {
    const { partition, told } = followed('read');
    await partition.admit([{ ...event, body: { parsed: true } }]);
    expect(told).toMatchObject([[1, { bytes: undefined }]]);
  });
});

describe('a tap on a device shows that a message waits', () => {
  const behind = (earlier: number) => ({ for: 'earlier messages of the device', earlier });
  const patient = (given: object) => ({
    areAvailable: () => false,
    met: () => new Promise<boolean>(() => {}),
    ...given,
  });

  it('in memory for earlier messages of its device', async () => {
    const { partition, told } = followed('waits');
    await partition.admit(events('a1 a2 a3'));
    expect(told).toEqual([
      [2, { where: 'memory', ...behind(1) }],
      [3, { where: 'memory', ...behind(2) }],
    ]);
  });

  it('in the hub for room, once, however often it tries', async () => {
    const { partition, told, started, end } = followed('waits', { backlog: backlogOf(2) });
    void partition.admit(events('a1 b2 a3 a4'));
    await vi.advanceTimersByTimeAsync(0);
    await end(2);
    expect(told.slice(1)).toEqual([[4, { where: 'hub', ...behind(2) }]]);
    await end(1);
    await end(3);
    expect(started).toEqual([1, 2, 3, 4]);
  });

  it('for a backend', async () => {
    const { partition, told } = followed('waits', { dependenciesOf: () => patient({ needs: ['informationModel'] }) });
    await partition.admit(events('a1'));
    expect(told).toEqual([[1, { where: 'memory', for: 'a backend', earlier: 0, needs: ['informationModel'] }]]);
  });

  it('for room in the budget', async () => {
    const { partition, told } = followed('waits', { budget: budgetOf(1) });
    void partition.admit(events('a1 b2'));
    await vi.advanceTimersByTimeAsync(0);
    expect(told).toEqual([[2, { where: 'memory', for: 'room', earlier: 0 }]]);
  });

  it('for an isolated run (G4)', async () => {
    const { partition, told } = followed('waits', noted('2 2 1 - -'));
    await partition.admit(events('a0'));
    expect(told).toEqual([[0, { where: 'memory', for: 'its turn', earlier: 0 }]]);
  });
});

it.each([
  ['without a checkpoint', { progress: undefined }],
  ['after one unclean shutdown', {}],
])('%s no message is a suspect', async (_, progress) => {
  const { partition, started } = partitionByHand({ ...noted('2 1 5 - -'), ...progress });
  await partition.admit(events('a0 b1'));
  expect([started, partition.contents().suspects]).toEqual([[0, 1], 0]);
});

it('a suspect of which only replies to other devices are left is not followed before it has ended (A12)', async () => {
  const { partition, started, stays, end } = partitionByHand(noted('2 2 0 - -'));
  await partition.admit(events('a0 a1 b2'));
  await vi.advanceTimersByTimeAsync(0);
  stays.at(-1)?.nextMayBegin();
  await vi.advanceTimersByTimeAsync(60_000);
  expect(started.toSorted()).toEqual([0, 2]);
  await end(0);
  expect(started.toSorted()).toEqual([0, 1, 2]);
  partition.revoke();
});

it('a suspect that ends while the store fails is in the last checkpoint of the drain', async () => {
  let isOut = false;
  const written: Checkpoint[] = [];
  const { partition, started, end } = partitionByHand({
    ...noted('2 2 5 - -'),
    async checkpoint(progress) {
      if (isOut) throw new Error('disk full');
      written.push(progress);
      return true;
    },
  });
  await partition.admit(events('a0'));
  await vi.advanceTimersByTimeAsync(0);
  expect([started, written.map(({ note }) => note)]).toEqual([[0], ['2 2 5 0 0+']]);
  isOut = true;
  await end(0);
  isOut = false;
  const drained = partition.drain(25_000).then((left) => [left, written.length]);
  await vi.advanceTimersByTimeAsync(60_000);
  expect(await drained).toEqual([0, written.length]);
  expect(written.at(-1)).toEqual({ sequenceNumber: 0, offset: '0', completed: '', note: '2 2 5 - -' });
});

it('a skipped message releases its room, whether it waited or not, and its device continues', async () => {
  const budget = budgetOf(10);
  const { partition, started, backlog } = partitionByHand({ ...noted('2 6 1 - 0:4,1:4'), budget });
  for (const some of ['a0', 'a1 a2']) {
    await partition.admit(events(some));
    await vi.advanceTimersByTimeAsync(0);
  }
  expect([started, backlog.taken(), budget.inFlight().messages]).toEqual([[2], { messages: 0, bytes: 0 }, 1]);
  expect(partition.pending()).toBe(1);
});
