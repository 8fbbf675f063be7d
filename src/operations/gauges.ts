import type { Backends } from '../backends/backends.ts';
import type { Backlog } from '../engine/budget/backlog.ts';
import type { Budget } from '../engine/budget/budget.ts';
import type { Pace } from '../engine/budget/pace.ts';
import type { Consumer } from '../hub/reading/consumer.ts';
import type { Sender } from '../hub/replies/sender.ts';
import type { Meter } from '../metrics/meter.ts';
import { observeBackends } from './backendGauges.ts';
import { observePartitions } from './partitionGauges.ts';

interface Observed {
  /** Of all partitions. */
  readonly budget: Pick<Budget, 'inFlight' | 'answering' | 'sleeping' | 'answers'>;
  readonly backlog: Pick<Backlog, 'taken'>;
  readonly pace: Pick<Pace, 'messages'>;
  readonly consumer: Pick<Consumer, 'partitions' | 'waiting'>;
  readonly backends: Pick<Backends, 'states'>;
  readonly sender: Pick<Sender, 'state'>;
}

/** Registers the metrics that are read from the state of the service whenever metrics are collected. */
export function observeService(meter: Meter, { budget, backlog, pace, consumer, backends, sender }: Observed): void {
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
  meter.observe('device_messaging.work.limit', () => [[pace.messages()]]);
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
