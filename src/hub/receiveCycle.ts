import { setImmediate } from 'node:timers/promises';
import type { EventHubConsumerClient, ReceivedEventData } from '@azure/event-hubs';
import { Receiver, ReceiverEvents } from 'rhea-promise';

/*
 * The event client receives in cycles: it grants credit, waits for an event, waits 20 ms more, and hands over what is in its
 * queue. Three faults of that are corrected here.
 */

const version = '6.0.4';
/** Seconds for which the calls of a receiver wait at least, but for the first: that one waits as the subscription says (D145). */
const idleSeconds = 2;

type Receive = (most: number, waitSeconds?: number, signal?: AbortSignal) => Promise<ReceivedEventData[]>;

type PartitionReceiver = { receiveBatch: Receive };

interface PrivateParts {
  readonly _context: {
    readonly connection: { readonly options: { readonly properties?: { readonly version?: string } } };
    receivers: Record<string, PartitionReceiver>;
  };
}

/** What keeps account of a receiver's queue, by the name of its link. The client asks for as much credit as the queue has room for events. */
const queues = new Map<string, (link: Receiver, room: number) => void>();

/** The client grants credit in every cycle, whatever the hub has not used yet (SDK trap 8; fact reading.credit). This grants only the difference. */
export function boundPrefetch(): void {
  const grant = Receiver.prototype.addCredit;
  if (grant.name === 'addMissingCredit') return;
  Receiver.prototype.addCredit = function addMissingCredit(this: Receiver, credit: number) {
    queues.get(this.name)?.(this, credit);
    const missing = credit - this.credit;
    if (missing > 0) grant.call(this, missing);
  };
}

/**
 * The client waits 20 ms when an event has come, before it hands it over: nearly all of the time that a message took, and a
 * limit of some thousand events a second for a partition. While it waits, this takes what has come, with calls for just as
 * many events as there are in its queue: such a call does not wait (D347). A start waits for the first report of an idle partition;
 * later ones may come seldom (D145). Subscriptions must state `prefetchCount`, and no larger `maxBatchSize`.
 * @throws Error when the client is of another version
 */
export function receiveAtOnce(client: EventHubConsumerClient): void {
  const { _context: context } = client as unknown as PrivateParts;
  const found = context?.connection.options.properties?.version;
  if (found !== version || typeof context.receivers !== 'object') {
    throw new Error(`receiveCycle.ts corrects @azure/event-hubs ${version}, and this is ${found}`);
  }
  context.receivers = new Proxy(context.receivers, {
    set(receivers, name: string, receiver: PartitionReceiver) {
      // A link that is opened again has the receiver of the one before.
      if (!queues.has(name)) queues.set(name, queueOf(receiver));
      receivers[name] = receiver;
      return true;
    },
    deleteProperty(receivers, name: string) {
      queues.delete(name);
      return Reflect.deleteProperty(receivers, name);
    },
  });
}

function queueOf(receiver: PartitionReceiver) {
  const receive = receiver.receiveBatch;
  let link: Receiver | undefined;
  /** Events for which the queue has room, and those in it. */
  let room = 0;
  let queued = 0;
  /** The client's own call, while it waits, and when it has ended. */
  let cycle: { readonly events: Promise<ReceivedEventData[]>; isOver: boolean } | undefined;
  let wake = () => {};

  function begin(events: Promise<ReceivedEventData[]>) {
    const begun = { events, isOver: false };
    const end = () => {
      begun.isOver = true;
      wake();
    };
    events.then(end, end);
    return begun;
  }

  function arrived() {
    queued += 1;
    wake();
  }

  /** What the client's first call takes out is not known: the second may wait, and then asks for credit, which tells how many there are. */
  async function receiveCounted(most: number, waitSeconds = 0, signal?: AbortSignal) {
    const events = await receive(most, Math.max(waitSeconds, idleSeconds), signal);
    queued -= events.length;
    return events;
  }

  /** No more than are in the queue, so that the call returns at once. */
  async function take(most: number, ...rest: [number?, AbortSignal?]) {
    const events = await receiveCounted(Math.min(most, queued), ...rest);
    if (link?.isOpen() && link.credit < room / 2) link.addCredit(room - queued);
    return events;
  }

  receiver.receiveBatch = async (most, ...rest) => {
    for (;;) {
      // Within one turn of the event loop, a cycle takes its event from the queue and ends: between turns the count is exact.
      if (cycle && queued > 0) await setImmediate();
      if (cycle?.isOver) {
        const { events } = cycle;
        cycle = undefined;
        const first = await events;
        return first.length === 0 || queued === 0 ? first : first.concat(await take(most - first.length, ...rest));
      }
      if (queued > 0) return take(most, ...rest);
      cycle ??= begin(receiveCounted(1, ...rest));
      await new Promise<void>((resolve) => {
        wake = resolve;
      });
    }
  };

  return (current: Receiver, credit: number) => {
    if (current !== link) {
      link?.removeListener(ReceiverEvents.message, arrived);
      link = current;
      link.on(ReceiverEvents.message, arrived);
      room ||= credit; // the queue of a new receiver is empty
    }
    queued = room - credit;
  };
}
