import type { Consumer } from '../hub/reading/consumer.ts';
import type { PartitionState } from '../hub/reading/hubWatch.ts';
import type { Meter } from '../metrics/meter.ts';

type Own = 'behind.duration' | 'behind.age' | 'oldest.duration' | 'checkpoint.duration' | 'suspects';

/** Registers the metrics of the partitions that this instance reads. */
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
    partitions().flatMap(
      ({ partition, inFlight, waiting }) =>
        [
          [inFlight, partition, 'work'],
          [waiting, partition, 'memory'],
        ] as const,
    ),
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
