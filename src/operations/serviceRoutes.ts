import { z } from 'zod';
import type { AdminRoute } from '../admin/adminServer.ts';
import { shownBackends } from '../backends/backend.ts';
import type { BackendName, Backends } from '../backends/backends.ts';
import { ageOf, inTenths, secondsSince, shownTime } from '../concurrency/clocks.ts';
import type { DeviceWork } from '../engine/partition.ts';
import type { Consumer } from '../hub/reading/consumer.ts';
import type { PartitionState } from '../hub/reading/hubWatch.ts';
import type { Replies } from '../hub/replies/replies.ts';
import { inWords } from '../observing/observation.ts';
import type { DeadLetters } from '../stores/deadLetterStore.ts';
import { chosenLetters, messageIn, type StoredLetter } from './deadLetterCommands.ts';

interface Sources {
  readonly instance: string;
  readonly consumer: Pick<Consumer, 'partitions' | 'elsewhere' | 'devices'>;
  readonly backends: Pick<Backends, 'states'>;
  readonly replies: Pick<Replies, 'connection' | 'sender'>;
  readonly deadLetters: Pick<DeadLetters, 'ids' | 'read'>;
}

const most = 1_000;
const limit = z.coerce.number().int().min(1).max(most).default(100);
const devicesQuery = z.strictObject({ device: z.string().min(1).optional(), limit });

export function serviceRoutes(sources: Sources): Readonly<Record<string, AdminRoute>> {
  const { instance, consumer, backends, replies, deadLetters } = sources;
  const { connection, sender } = replies;

  function devices(query: URLSearchParams) {
    const { device, limit } = devicesQuery.parse(Object.fromEntries(query));
    const shown = <T, S>(all: readonly T[], show: (one: T) => S) => ({
      devices: all.slice(0, limit).map(show),
      further: Math.max(0, all.length - limit),
    });
    const isAsked = (one: string) => device === undefined || one === device;
    const work = consumer.devices(device).toSorted((one, other) => one.readAt - other.readAt);
    const notFetching = new Set(sender.notFetching());
    const full = sender.fullQueues().filter((one) => isAsked(one.device));
    return {
      ...shown(work, (one) => shownWork(one, backends.states(), notFetching)),
      fullQueues: shown(full, ({ since, ...rest }) => ({ ...rest, ...ageOf(since) })),
      notFetching: shown([...notFetching].filter(isAsked), (one) => one),
    };
  }

  return {
    '/partitions': {
      about:
        'the partitions that this instance reads: how far they are behind, what waits, the oldest message, the checkpoint, and sums of what a stop would find; and who owns the others',
      get() {
        const partitions = consumer.partitions();
        const elsewhere = consumer.elsewhere().map(({ partition, owner, renewedAt }) => {
          return { partition, owner: owner || 'none', renewedAt: new Date(renewedAt).toISOString() };
        });
        return { instance, total: totalOf(partitions), partitions: partitions.map(shownPartition), elsewhere };
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
    '/dead-letters': deadLettersRoute(deadLetters),
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

export function shownWork(
  work: DeviceWork & { readonly partition: string },
  backends: ReturnType<Backends['states']>,
  notFetching: ReadonlySet<string>,
) {
  const { device, partition, messages, sequenceNumber, readAt, begunAt, needs, state, steps } = work;
  const out = needs.filter((name) => backends[name as BackendName]?.circuit === 'open');
  const needsToken = out.length === 0 && backends.tokenEndpoint?.circuit === 'open';
  const ofBackends = needsToken
    ? 'an access token for the backends: the token endpoint is out (BACKENDS_TOKEN_URL)'
    : `a backend that is out: ${out.join(', ')}`;
  const waiting = state === 'waits for backends' ? ofBackends : waits[state];
  const doing = steps.map((step) => ({ waitsFor: inWords(step), ...ageOf(step.since) }));
  return {
    device,
    partition,
    messages,
    oldest: { sequenceNumber, readAt: shownTime(readAt), seconds: secondsSince(readAt) },
    state,
    waitsFor: doing.map(({ waitsFor }) => waitsFor).join('; ') || waiting,
    ...(begunAt !== undefined && { begun: ageOf(begunAt) }),
    ...(doing.length > 0 && { steps: doing }),
    ...(notFetching.has(device) && { doesNotFetch: true }),
  };
}

const waits = {
  'in flight': 'nothing: it is being handled',
  'waits for room': 'room: too many messages are in flight (DELIVERY_MAX_MESSAGES, DELIVERY_MAX_BYTES)',
  'waits for its turn': 'its turn: it may have ended the process before (G4)',
};

const name = z.string().min(1).max(128).optional();
const lettersQuery = z.strictObject({ device: name, code: name, limit });

/** `GET /dead-letters`, without bodies and properties. A request reads a thousand at most: the service has other work. The command reads all. */
export function deadLettersRoute(store: Sources['deadLetters']): AdminRoute {
  return {
    about:
      'dead letters without their bodies, each device’s in order, among the first thousand; ?device=D, ?code=C, ?limit=100',
    async get(query) {
      const { device, code, limit } = lettersQuery.parse(Object.fromEntries(query));
      const deadLetters: object[] = [];
      let unreadable = 0;
      const ids = await store.ids(device);
      const first = { ids: async () => ids.slice(0, most), read: (id: string) => store.read(id) };
      let isMore = ids.length > most;
      const chosen = chosenLetters(first, { device, code }, () => {
        unreadable += 1;
      });
      for await (const one of chosen) {
        if (deadLetters.length === limit) {
          isMore = true;
          break;
        }
        deadLetters.push(shownLetter(one));
      }
      return { deadLetters, isMore, unreadable };
    },
  };
}

function shownLetter({ id, letter }: StoredLetter) {
  const { deviceId, code, details, attempts, parkedAt, origin, event } = letter;
  return {
    ...{ id, device: deviceId, message: messageIn(letter), code, details, attempts, parkedAt: parkedAt.toISOString() },
    ...{ partition: origin.partition, sequenceNumber: event.sequenceNumber },
  };
}
