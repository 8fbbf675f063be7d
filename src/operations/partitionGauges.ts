import type { Behind } from '../hub/reading/behind.ts';
import type { Consumer } from '../hub/reading/consumer.ts';
import type { PartitionState } from '../hub/reading/partitionState.ts';
import type { Meter } from '../metrics/meter.ts';

type ByPartition = `device_messaging.partition.${Own}`;
type Own = 'oldest.duration' | 'checkpoint.duration' | 'suspects';

/** Registers the metrics of the partitions that this instance reads, and of those that no instance reads. */
export function observePartitions(meter: Meter, consumer: Pick<Consumer, 'partitions' | 'unowned'>): void {
  const partitions = oncePerCollection(consumer.partitions);

  /** One series for each partition. */
  const each = (numberOf: (state: PartitionState) => number) => () =>
    partitions().map((state) => [numberOf(state), state.partition] as const);

  meter.observe('device_messaging.partitions', () =>
    (['reading', 'draining'] as const).map(
      (state) => [partitions().filter((one) => one.state === state).length, state] as const,
    ),
  );
  meter.observe('device_messaging.partition.messages', () =>
    partitions().flatMap(
      ({ partition, inFlight, waiting }) =>
        [
          [inFlight, partition, 'work'],
          [waiting, partition, 'memory'],
        ] as const,
    ),
  );
  const observe = (name: ByPartition, numberOf: Parameters<typeof each>[0]) => meter.observe(name, each(numberOf));
  /** One series for each partition; none where the value is not known. */
  const behind = (numberOf: (one: Behind) => number | null) => () =>
    [...partitions(), ...consumer.unowned()].flatMap((one) => {
      const value = numberOf(one);
      return value === null ? [] : [[value, one.partition] as const];
    });
  meter.observe(
    'device_messaging.partition.behind.duration',
    behind(({ behindSeconds }) => behindSeconds),
  );
  meter.observe(
    'device_messaging.partition.behind.age',
    behind(({ asOf }) => (asOf === undefined ? null : (performance.now() - asOf) / 1000)),
  );
  observe('device_messaging.partition.oldest.duration', ({ oldest }) =>
    oldest === undefined ? 0 : (performance.now() - oldest.readAt) / 1000,
  );
  observe('device_messaging.partition.checkpoint.duration', ({ checkpoint }) => checkpoint.ageSeconds);
  observe('device_messaging.partition.suspects', ({ suspects }) => suspects);
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
