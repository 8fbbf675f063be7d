import { z } from 'zod';
import type { Backends } from '../backends/backends.ts';
import type { Consumer } from '../hub/reading/consumer.ts';
import type { PartitionState } from '../hub/reading/hubWatch.ts';
import type { Replies } from '../hub/replies/replies.ts';
import type { Ownership } from '../hub/stores/checkpointStore.ts';
import type { AdminRoute } from './adminServer.ts';
import { ageOf, inTenths, secondsSince, shownTime } from './ages.ts';
import { shownBackends } from './shownBackends.ts';
import { shownWork } from './shownWork.ts';

interface Sources {
  /** The build and the instance. */
  readonly instance: string;
  readonly consumer: Pick<Consumer, 'partitions' | 'elsewhere' | 'devices'>;
  readonly backends: Pick<Backends, 'states'>;
  readonly replies: Pick<Replies, 'connection' | 'sender'>;
}

const mostDevices = 1_000;

const devicesQuery = z.strictObject({
  device: z.string().min(1).optional(),
  limit: z.coerce.number().int().min(1).max(mostDevices).default(100),
});

/** What the service says about itself on the admin port. */
export function serviceRoutes(sources: Sources): Readonly<Record<string, AdminRoute>> {
  const {
    instance,
    consumer,
    backends,
    replies: { connection, sender },
  } = sources;

  function devices(query: URLSearchParams) {
    const { device, limit } = devicesQuery.parse(Object.fromEntries(query));
    const all = consumer.devices(device).toSorted((one, other) => one.readAt - other.readAt);
    const notFetching = new Set(sender.notFetching());
    const isAsked = (one: string) => device === undefined || one === device;
    const deaf = [...notFetching].filter(isAsked);
    const full = sender.fullQueues().filter((one) => isAsked(one.device));
    return {
      devices: all.slice(0, limit).map((work) => shownWork(work, backends.states(), notFetching)),
      further: Math.max(0, all.length - limit),
      fullQueues: {
        devices: full.slice(0, limit).map(({ since, ...rest }) => ({ ...rest, ...ageOf(since) })),
        further: Math.max(0, full.length - limit),
      },
      notFetching: { devices: deaf.slice(0, limit), further: Math.max(0, deaf.length - limit) },
    };
  }

  return {
    '/partitions': {
      about:
        'the partitions that this instance reads: how far they are behind, what waits, the oldest message, the checkpoint, and sums of what a stop would find; and who owns the others',
      get: () => {
        const all = consumer.partitions();
        return {
          instance,
          total: totalOf(all),
          partitions: all.map(shownPartition),
          elsewhere: consumer.elsewhere().map(shownOwner),
        };
      },
    },
    '/backends': { about: 'circuits, connections and caches', get: () => shownBackends(backends.states()) },
    '/replies': {
      about: 'what waits for the hub, and its rate',
      get: () => ({ connected: connection.isOpen(), ...sender.state() }),
    },
    '/devices': {
      about: 'devices with messages, the oldest message first, and what each waits for; ?device=D, ?limit=100',
      get: devices,
    },
  };
}

/** What a stop would find, in messages; `failing` counts the partitions whose checkpoints cannot be written now. */
function totalOf(all: readonly PartitionState[]) {
  const sum = (of: (one: PartitionState) => number) => all.reduce((total, one) => total + of(one), 0);
  return {
    inFlight: sum(({ inFlight }) => inFlight),
    waiting: sum(({ waiting }) => waiting),
    unwritten: sum(({ checkpoint }) => checkpoint.unwritten),
    failing: sum(({ checkpoint }) => Number(checkpoint.isFailing)),
  };
}

const shownPartition = ({ since, oldest, behindSeconds, asOf, checkpoint, ...rest }: PartitionState) => ({
  ...rest,
  behindSeconds: behindSeconds === null ? null : inTenths(behindSeconds),
  asOf: asOf === undefined ? null : shownTime(asOf),
  since: shownTime(since),
  oldest: oldest && { ...oldest, readAt: shownTime(oldest.readAt), seconds: secondsSince(oldest.readAt) },
  checkpoint: { ...checkpoint, ageSeconds: inTenths(checkpoint.ageSeconds) },
});

const shownOwner = ({ partition, owner, renewedAt }: Ownership) => ({
  partition,
  owner: owner === '' ? 'none' : owner,
  renewedAt: new Date(renewedAt).toISOString(),
});
