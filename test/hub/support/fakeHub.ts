import type { EventHubConsumerClient, SubscribeOptions, SubscriptionEventHandlers } from '@azure/event-hubs';
import type { HubEvent } from '../../../src/protocol/event.ts';
import type { ProcessLife } from '../../support/processLife.ts';

type Client = Pick<EventHubConsumerClient, 'getPartitionIds' | 'getPartitionProperties' | 'subscribe' | 'close'>;

/** A hub in memory, as far as the consumer sees it; every call of a client is an await point of its process. */
export interface FakeHub {
  append(partition: string, event: HubEvent): void;
  client(life: ProcessLife): Client;
  /** Whose receiver with an owner level is open. */
  readerOf(partition: string): ProcessLife | undefined;
}

type Receiver = { readonly epoch: number; readonly life: ProcessLife; isOpen: boolean; disconnect(): void };

/** Of the hub's owner levels it knows this: a higher or equal one takes over, a lower one is refused. */
export function createFakeHub(partitions: readonly string[]): FakeHub {
  const logs = new Map<string, HubEvent[]>(partitions.map((id) => [id, []]));
  const receivers = new Map<string, Receiver>();
  const waiting = new Map(partitions.map((id) => [id, new Set<() => void>()]));
  const logOf = (partition: string) => logs.get(partition) ?? [];
  const waitingFor = (partition: string) => waiting.get(partition) ?? new Set();

  /** Until something comes, or for so long. */
  const receivedMessage = (partition: string, ms: number) =>
    new Promise<void>((resolve) => {
      const wake = () => {
        clearTimeout(timer);
        waitingFor(partition).delete(wake);
        resolve();
      };
      const timer = setTimeout(wake, ms);
      waitingFor(partition).add(wake);
    });

  function attach(partition: string, receiver: Receiver) {
    const current = receivers.get(partition);
    if (current?.isOpen && current.epoch > receiver.epoch) receiver.disconnect();
    else {
      current?.disconnect();
      receivers.set(partition, receiver);
    }
  }

  async function deliver(
    life: ProcessLife,
    partition: string,
    receiver: Receiver,
    handlers: SubscriptionEventHandlers,
    { startPosition, maxBatchSize = 1, maxWaitTimeInSeconds = 60 }: SubscribeOptions,
  ) {
    const log = logOf(partition);
    await life.step(async () => attach(partition, receiver));
    const after = startPosition && 'offset' in startPosition ? Number(startPosition.offset) : -1;
    let next = log.findIndex(({ offset }) => Number(offset) > after);
    if (next < 0) next = log.length;
    while (receiver.isOpen) {
      if (next >= log.length) await receivedMessage(partition, maxWaitTimeInSeconds * 1000);
      const batch = await life.step(async () => log.slice(next, next + maxBatchSize));
      if (!receiver.isOpen) return;
      next += batch.length;
      await handlers.processEvents(batch as never, undefined as never);
    }
  }

  function clientOf(life: ProcessLife, opened: Set<Receiver>): Client {
    // A process that ends has no connections.
    void life.death.then(() => {
      for (const receiver of opened) receiver.isOpen = false;
    });
    return {
      getPartitionIds: () => life.step(async () => [...partitions]),
      getPartitionProperties: (id: string) =>
        life.step(async () => ({
          beginningSequenceNumber: logOf(id)[0]?.sequenceNumber ?? 0,
          lastEnqueuedSequenceNumber: logOf(id).at(-1)?.sequenceNumber ?? -1,
          lastEnqueuedOffset: logOf(id).at(-1)?.offset ?? '-1',
        })) as never,
      subscribe(partition: unknown, handlers: unknown, options?: unknown) {
        const { processError } = handlers as SubscriptionEventHandlers;
        const receiver: Receiver = {
          epoch: (options as SubscribeOptions).ownerLevel ?? 0,
          life,
          isOpen: true,
          disconnect() {
            if (!receiver.isOpen) return;
            receiver.isOpen = false;
            const error = Object.assign(new Error('stolen'), { code: 'ReceiverDisconnectedError' });
            void processError(error, undefined as never);
          },
        };
        opened.add(receiver);
        void deliver(life, String(partition), receiver, handlers as never, options as never);
        const close = () =>
          life.step(async () => {
            receiver.isOpen = false;
            opened.delete(receiver);
          });
        return { isRunning: receiver.isOpen, close };
      },
      close: () =>
        life.step(async () => {
          for (const receiver of opened) receiver.isOpen = false;
        }),
    };
  }

  return {
    append(partition, event) {
      logOf(partition).push(event);
      for (const wake of [...waitingFor(partition)]) wake();
    },
    readerOf(partition) {
      const receiver = receivers.get(partition);
      return receiver?.isOpen && receiver.epoch > 0 ? receiver.life : undefined;
    },
    client: (life) => clientOf(life, new Set()),
  };
}
