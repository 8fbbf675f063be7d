import type { BackendState } from '../../../src/backends/circuit.ts';
import { createBudget } from '../../../src/engine/budget.ts';
import { createBacklog, sleeperBytes } from '../../../src/engine/rooms.ts';
import type { PartitionState } from '../../../src/hub/reading/hubWatch.ts';
import { observeService } from '../../../src/operations/gauges.ts';
import { by, type Chapter, times } from '../support/points.ts';

/** A partition whose numbers begin with this one. */
const stateOf = (partition: string, state: PartitionState['state'], first: number): PartitionState => ({
  ...{ partition, state, epoch: 901, since: 902, position: 903, devices: 904 },
  ...{
    behindSeconds: first,
    asOf: performance.now() - (first + 1) * 1000,
    inFlight: first + 2,
    sleeping: 909,
    waiting: first + 3,
  },
  oldest: { device: 'd1', sequenceNumber: 905, readAt: performance.now() - (first + 6) * 1000 },
  checkpoint: { sequenceNumber: 906, ageSeconds: first + 7, failures: 907, isFailing: false, unwritten: 908 },
  suspects: first + 8,
});

const backendOf = (circuit: BackendState['circuit'], first: number, cacheEntries?: number): BackendState => ({
  ...{ circuit, outage: undefined, cacheEntries },
  connections: { inUse: first, waiting: first + 1 },
  oldestMs: 914,
});

/** What is read from the state of the service whenever metrics are collected. */
export const state: Chapter = {
  async record(meter) {
    const budget = createBudget({ maxMessages: 1_000, maxBytes: 1e6 });
    await times(101, () => budget.all.take(11));
    const backlog = createBacklog({ maxMessages: 1_000, maxBytes: 1e6 });
    const { enter } = backlog.ofPartition(() => {});
    await times(102, () => enter(12, []));
    await times(103, () => budget.answering.add(13));
    await times(106, () => budget.sleeping.add(14, () => false).sleeps(() => {}));
    await times(107, () => budget.answers.take(15));
    const partitions = [stateOf('0', 'reading', 110), stateOf('1', 'draining', 120), stateOf('2', 'reading', 130)];
    observeService(meter, {
      ...{ budget, backlog },
      adaptiveLimit: { messages: () => 104 },
      consumer: {
        partitions: () => partitions,
        waiting: () => ({ messages: 105, bytes: 908 }) as never,
      },
      backends: {
        states: () => ({
          informationModel: backendOf('closed', 141),
          typeRegistry: backendOf('open', 143, 147),
          principalManager: { ...backendOf('closed', 145, 148), accessRefused: true },
          tokenEndpoint: backendOf('open', 155),
        }),
      },
      sender: { state: () => ({ waiting: 151, sleeping: 157, inFlight: 152, ratePerSecond: 153, notFetching: 154 }) },
    });
  },
  points: {
    'device_messaging.held.messages': by('place', {
      work: 101,
      memory: 102,
      replies: 103,
      full_queues: 106,
      models: 107,
    }),
    'device_messaging.held.bytes': by('place', {
      work: 1111,
      memory: 1224,
      replies: 1339,
      full_queues: 106 * (14 + sleeperBytes),
      models: 1605,
    }),
    'device_messaging.work.limit': { '': 104 },
    'device_messaging.unfinished.messages': { '': 105 },
    'device_messaging.partitions': { 'state=reading': 2, 'state=draining': 1 },
    'device_messaging.partition.behind.duration': by('partition.id', { 0: 110, 1: 120, 2: 130 }),
    'device_messaging.partition.behind.age': { 'partition.id=0': 111, 'partition.id=1': 121, 'partition.id=2': 131 },
    'device_messaging.partition.messages': {
      ...by('partition.id=0 place', { work: 112, memory: 113 }),
      ...by('partition.id=1 place', { work: 122, memory: 123 }),
      ...by('partition.id=2 place', { work: 132, memory: 133 }),
    },
    'device_messaging.partition.oldest.duration': by('partition.id', { 0: 116, 1: 126, 2: 136 }),
    'device_messaging.partition.checkpoint.duration': by('partition.id', { 0: 117, 1: 127, 2: 137 }),
    'device_messaging.partition.suspects': { 'partition.id=0': 118, 'partition.id=1': 128, 'partition.id=2': 138 },
    'device_messaging.backend.out': by('backend', {
      informationModel: 0,
      typeRegistry: 1,
      principalManager: 0,
      tokenEndpoint: 1,
    }),
    'device_messaging.backend.access_refused': by('backend', {
      informationModel: 0,
      typeRegistry: 0,
      principalManager: 1,
      tokenEndpoint: 0,
    }),
    'device_messaging.backend.connections': {
      ...by('backend=informationModel state', { used: 141, waiting: 142 }),
      ...by('backend=typeRegistry state', { used: 143, waiting: 144 }),
      ...by('backend=principalManager state', { used: 145, waiting: 146 }),
      ...by('backend=tokenEndpoint state', { used: 155, waiting: 156 }),
    },
    'device_messaging.cache.entries': { 'cache=types': 147, 'cache=identities': 148 },
    'device_messaging.replies.unsettled': { 'place=waiting': 151, 'place=full_queues': 157, 'place=sent': 152 },
    'device_messaging.replies.rate': { '': 153 },
    'device_messaging.devices.not_fetching': { '': 154 },
  },
};
