import { inject } from 'iot-hub-emulator/testing';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import { hubForEach } from '../../iot-hub-emulator/test/support/sharedHub.ts';
import {
  createForeignCheckpointCheck,
  ForeignCheckpoint,
  OldInformation,
  type StartPosition,
  startPositionOf,
} from '../../src/hub/reading/startPosition.ts';
import { cureHubSdks } from '../../src/hub/sdkCures.ts';
import { createLog } from '../../src/observing/log.ts';
import type { HubEvent } from '../../src/protocol/event.ts';
import type { CheckpointStore } from '../../src/stores/checkpointStore.ts';
import { createMemoryStore } from '../../src/stores/fileCheckpoints.ts';
import { soon } from '../support/waiting.ts';
import { claimed } from './support/claims.ts';
import { consumersForEach, textOf, usualOpened } from './support/reading.ts';

cureHubSdks();

let seen: string[];
let lines: Record<string, unknown>[];
const log = createLog('info', { write: (line) => lines.push(JSON.parse(line)) });
const alarms = () => lines.filter(({ level }) => level === 'error').map((fields) => ({ fields }));

const hub = hubForEach({ partitions: 2 });
const begin = consumersForEach();
beforeEach(() => ([seen, lines] = [[], []]));

const send = (partitionId: string, text: string) => inject(hub, [text], { partition: Number(partitionId) });

const read = (
  store: CheckpointStore,
  startPosition: StartPosition = 'earliest',
  handle: (text: string) => Promise<boolean> = async () => true,
) =>
  begin({
    ...{ access: hub.eventsConnectionString, startPosition, drainMs: 500, roundMs: 100 },
    ...{ balance: { expiryMs: 2_000, forceMs: 4_000 }, store, log },
    partition: () => ({
      ...usualOpened(),
      receivedMessageOf: (event: HubEvent) => ({ event, deviceId: textOf(event) }),
      dispatch({ event }) {
        seen.push(textOf(event));
        return handle(textOf(event));
      },
    }),
  });

const receiving = (count: number) =>
  vi.waitFor(() => expect(hub.counters().receivers).toHaveLength(count), { timeout: 120_000, interval: 10 });

describe('a start that must be written before the first event is read', () => {
  const extent = { beginningSequenceNumber: 0, lastEnqueuedSequenceNumber: 7, lastEnqueuedOffset: '700' };
  const startWith = (writeCheckpoint: CheckpointStore['writeCheckpoint'], afterUncleanShutdown: boolean) =>
    startPositionOf(
      { ...claimed('me', 2), etag: 'e' },
      {
        store: { ...createMemoryStore(), writeCheckpoint },
        extentOf: async () => extent,
        ...{ partitionIds: () => ['0'], checkCheckpoint() {} },
        ...{ startPosition: afterUncleanShutdown ? 'earliest' : 'latest', afterUncleanShutdown },
      },
    );

  it.each([
    ['the latest event', false],
    ['the suspects of an unclean shutdown', true],
  ])('is none when another instance owns the partition by then, or the store fails: %s', async (_, isUnclean) => {
    const written: number[] = [];
    const start = await startWith(async (_reader, { sequenceNumber }) => written.push(sequenceNumber) > 0, isUnclean);
    expect([start?.sequenceNumber, written]).toEqual(isUnclean ? [-1, [-1]] : [7, [7]]);
    expect(await startWith(async () => false, isUnclean)).toBeUndefined();
    await expect(startWith(() => Promise.reject(new Error('no store')), isUnclean)).rejects.toThrow('no store');
  });
});

describe('a partition without a checkpoint that is read from the latest event', () => {
  it('is read from there by all later readers: no event between two of them is lost', async () => {
    const store = createMemoryStore();
    await send('0', 'before');
    const first = read(store, 'latest');
    await receiving(2);
    await first.stop();
    await send('0', 'while nobody read');
    read(store, 'latest');
    await vi.waitFor(() => expect(seen).toEqual(['while nobody read']), soon);
  });

  it('keeps its unfinished suspects', async () => {
    const store = createMemoryStore();
    const first = read(store, 'latest', () => new Promise(() => {}));
    await receiving(2);
    await send('0', 'slow');
    await vi.waitFor(() => expect(seen).toEqual(['slow']), soon);
    await first.stop();
    read(store, 'latest');
    await vi.waitFor(() => expect(seen).toEqual(['slow', 'slow']), soon);
  });
});

it('a clean stop repeats no finished message, even if the first message of the partition was not finished', async () => {
  const store = createMemoryStore();
  await send('0', 'slow');
  await send('0', 'done');
  const first = read(store, 'earliest', (text) => (text === 'slow' ? new Promise(() => {}) : Promise.resolve(true)));
  await vi.waitFor(() => expect(seen).toEqual(['slow', 'done']), soon);
  await first.stop();
  read(store);
  await vi.waitFor(() => expect(seen.slice(2)).toContain('slow'), soon);
  await send('0', 'last');
  await vi.waitFor(() => expect(seen).toEqual(['slow', 'done', 'slow', 'last']), soon);
});

describe('an owned partition that cannot be read', () => {
  it('because its checkpoint is of an older hub, raises an alarm, makes the service not ready without a restart, and the others are read', async () => {
    vi.useFakeTimers({ toFake: ['performance'] });
    const progress = { sequenceNumber: 1_000, offset: '5', completed: '' };
    const foreign = [{ partition: '1', progress }];
    const consumer = read(createMemoryStore({ ownerships: [], progress: foreign }));
    await send('0', 'of the other partition');
    await send('1', 'new');
    await vi.waitFor(() => expect(seen).toEqual(['of the other partition']), soon);
    // What the hub says may be older than the checkpoint: no alarm before it has said so for a minute.
    await vi.waitFor(() => expect(consumer.missing().join()).toMatch(/^partition 1 .*has come to 0 only/), soon);
    expect(alarms()).toEqual([]);
    vi.advanceTimersByTime(61_000);
    await vi.waitFor(() => expect(alarms()).toMatchObject([{ fields: { cause: 'ForeignCheckpoint' } }]), soon);
    expect(alarms()[0]?.fields).toMatchObject({ todo: expect.stringContaining('remove the partition’s checkpoint') });
    const foreignOnly = [expect.stringMatching(/^partition 1 .*not of this hub/)];
    await vi.waitFor(() => expect(consumer.missing()).toEqual(foreignOnly), soon);
    vi.advanceTimersByTime(10 * 60_000);
    await vi.waitFor(() => expect(consumer.silentForMs()).toBeLessThan(5_000), soon);
    expect(seen).toEqual(['of the other partition']);
  });

  it('because there is a checkpoint under an unknown partition name, is not read from the start', async () => {
    const progress = (sequenceNumber: number) => ({ sequenceNumber, offset: String(sequenceNumber), completed: '' });
    const renamed = [
      { partition: 'zero', progress: progress(0) },
      { partition: '1', progress: progress(-1) },
    ];
    await send('0', 'handled before');
    await send('1', 'of the other partition');
    const consumer = read(createMemoryStore({ ownerships: [], progress: renamed }));
    await vi.waitFor(() => expect(seen).toEqual(['of the other partition']), soon);
    const refused = [expect.stringMatching(/^partition 0 .*does not have: of partition zero/)];
    await vi.waitFor(() => expect(consumer.missing()).toEqual(refused), soon);
    const expected = { cause: 'UnreadableCheckpoint', todo: expect.stringContaining('correct the checkpoint') };
    expect(alarms()).toMatchObject([{ fields: expected }]);
    expect(seen).toEqual(['of the other partition']);
  });

  it('because its checkpoint is ahead of the hub, is read as soon as the hub has caught up, without an alarm', async () => {
    const store = createMemoryStore();
    await send('0', 'before');
    const first = read(store);
    await vi.waitFor(() => expect(seen).toEqual(['before']), soon);
    await first.stop();
    const stale = hub.faults.add({ kind: 'partition-info', answer: 'stale', partition: '0', events: 1 });
    const consumer = read(store);
    await vi.waitFor(() => expect(consumer.missing().join()).toContain('has come to -1 only'), soon);
    hub.faults.clear(stale);
    await send('0', 'after');
    await vi.waitFor(() => expect(seen).toEqual(['before', 'after']), soon);
    await vi.waitFor(() => expect(consumer.missing()).toEqual([]), soon);
    expect(alarms()).toEqual([]);
  });

  it('because the hub does not report its latest event, is read from there as soon as it does', async () => {
    await send('0', 'before');
    hub.faults.add({ kind: 'partition-info', answer: 'no-offset', partition: '0', times: 2 });
    const store = createMemoryStore();
    const consumer = read(store, 'latest');
    await vi.waitFor(() => expect(consumer.missing()).toEqual([]), soon);
    expect(await store.progress('0')).toMatchObject({ sequenceNumber: 0, offset: '0' });
    await send('0', 'after');
    await vi.waitFor(() => expect(seen).toEqual(['after']), soon);
  });

  it('because the hub has no event at the offset of its checkpoint, raises an alarm until the checkpoint is removed', async () => {
    await send('0', 'first');
    await send('0', 'second');
    const progress = [{ partition: '0', progress: { sequenceNumber: 0, offset: '999999', completed: '' } }];
    let store = createMemoryStore({ ownerships: [], progress });
    const through: CheckpointStore = { ...store, progress: (partition) => store.progress(partition) };
    const consumer = read(through);
    await vi.waitFor(() => expect(alarms()).toHaveLength(1), soon);
    const expected = { cause: 'ArgumentError while reading', hubSaid: expect.stringContaining('The supplied offset') };
    expect(alarms()[0]?.fields).toMatchObject(expected);
    const refused = [expect.stringMatching(/^partition 0 .*The supplied offset/)];
    await vi.waitFor(() => expect(consumer.missing()).toEqual(refused), soon);
    store = createMemoryStore();
    await vi.waitFor(() => expect(seen).toEqual(['first', 'second']), soon);
    await vi.waitFor(() => expect(consumer.missing()).toEqual([]), soon);
    expect(alarms()).toHaveLength(1);
  });
});

it('a checkpoint counts as foreign only when the hub has not come to it at any look in between', () => {
  vi.useFakeTimers();
  const check = createForeignCheckpointCheck();
  const look = (newest: number) => () => check('0', 10, newest);
  for (const newest of [9, 9, 10, 9]) {
    if (newest < 10) expect(look(newest)).toThrow(OldInformation);
    else look(newest)();
    vi.advanceTimersByTime(31_000);
  }
  expect(look(9)).toThrow(OldInformation);
  vi.advanceTimersByTime(31_000);
  expect(look(9)).toThrow(ForeignCheckpoint);
});
