import { observeBackends } from '../backends/backend.ts';
import type { Backends } from '../backends/backends.ts';
import type { AdaptiveLimit, Budget } from '../engine/budget.ts';
import type { Backlog } from '../engine/rooms.ts';
import type { Consumer } from '../hub/reading/consumer.ts';
import type { PartitionState } from '../hub/reading/hubWatch.ts';
import type { Sender } from '../hub/replies/sender.ts';
import type { Meter } from '../observing/metrics.ts';

interface Observed {
  readonly budget: Pick<Budget, 'inFlight' | 'answering' | 'sleeping' | 'answers'>;
  readonly backlog: Pick<Backlog, 'taken'>;
  readonly adaptiveLimit: Pick<AdaptiveLimit, 'messages'>;
  readonly consumer: Pick<Consumer, 'partitions' | 'waiting'>;
  readonly backends: Pick<Backends, 'states'>;
  readonly sender: Pick<Sender, 'state'>;
}

/** Registers the metrics that are read from the state of the service whenever they are collected. */
export function observeService(meter: Meter, { budget, backlog, adaptiveLimit, consumer, backends, sender }: Observed) {
  const held = (what: 'messages' | 'bytes') =>
    [
      [budget.inFlight()[what], 'work'],
      [backlog.taken()[what], 'memory'],
      [budget.answering.taken()[what], 'replies'],
      [budget.sleeping.taken()[what], 'full_queues'],
      [budget.answers.inFlight()[what], 'models'],
    ] as const;
  meter.observe('device_messaging.held.messages', () => held('messages'));
  meter.observe('device_messaging.held.bytes', () => held('bytes'));
  meter.observe('device_messaging.work.limit', () => [[adaptiveLimit.messages()]]);
  meter.observe('device_messaging.unfinished.messages', () => [[consumer.waiting().messages]]);
  observePartitions(meter, consumer);
  observeBackends(meter, backends.states);
  meter.observe('device_messaging.replies.unsettled', () => {
    const { waiting, sleeping, inFlight } = sender.state();
    return [
      [waiting, 'waiting'],
      [sleeping, 'full_queues'],
      [inFlight, 'sent'],
    ];
  });
  meter.observe('device_messaging.replies.rate', () => {
    const { ratePerSecond } = sender.state();
    return ratePerSecond === undefined ? [] : [[ratePerSecond]];
  });
  meter.observe('device_messaging.devices.not_fetching', () => [[sender.state().notFetching]]);
}

type Own = 'behind.duration' | 'behind.age' | 'oldest.duration' | 'checkpoint.duration' | 'suspects';

export function observePartitions(meter: Meter, consumer: Pick<Consumer, 'partitions'>): void {
  const partitions = oncePerCollection(consumer.partitions);

  /** One series for each partition; none where the value is not known. */
  const observe = (name: Own, numberOf: (one: PartitionState) => number | null) =>
    meter.observe(`device_messaging.partition.${name}`, () =>
      partitions().flatMap((one) => {
        const value = numberOf(one);
        return value === null ? [] : [[value, one.partition] as const];
      }),
    );

  meter.observe('device_messaging.partitions', () =>
    (['reading', 'draining'] as const).map(
      (state) => [partitions().filter((one) => one.state === state).length, state] as const,
    ),
  );
  meter.observe('device_messaging.partition.messages', () =>
    partitions().flatMap(({ partition, inFlight, waiting }) => {
      return [[inFlight, partition, 'work'] as const, [waiting, partition, 'memory'] as const];
    }),
  );
  observe('behind.duration', ({ behindSeconds }) => behindSeconds);
  observe('behind.age', ({ asOf }) => (asOf === undefined ? null : (performance.now() - asOf) / 1000));
  observe('oldest.duration', ({ oldest }) => (oldest === undefined ? 0 : (performance.now() - oldest.readAt) / 1000));
  observe('checkpoint.duration', ({ checkpoint }) => checkpoint.ageSeconds);
  observe('suspects', ({ suspects }) => suspects);
}

/** The state is a walk over all that waits. A collection reads all metrics at once, without an await between them. */
function oncePerCollection<T>(read: () => T): () => T {
  let known: { readonly value: T } | undefined;
  return () => {
    if (known === undefined) {
      known = { value: read() };
      queueMicrotask(() => {
        known = undefined;
      });
    }
    return known.value;
  };
}
