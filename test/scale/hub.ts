import {
  EventHubConsumerClient,
  type SubscriptionEventHandlers as Handlers,
  type Subscription,
} from '@azure/event-hubs';
import { createThrottle, type Limits, type Throttle } from 'iot-hub-emulator/limits';
import type { SendRefusal } from '../../src/hub/replies/sendFailure.ts';
import { createFakeHub } from '../hub/support/fakeHub.ts';
import { createCounts, lifeOf, overNetwork, type Process } from './run.ts';
import type { VirtualTime } from './world.ts';

interface HubOptions {
  readonly time: VirtualTime;
  readonly partitions: readonly string[];
  /** To and from the hub, in milliseconds. */
  readonly networkMs: () => number;
  readonly replyLimits: Limits;
}

/** Of the questions for properties. */
const mostQuestions = 50;

const body = Buffer.from('{}');

export type Hub = ReturnType<typeof createHub>;

export function createHub({ time, partitions, networkMs, replyLimits }: HubOptions) {
  const log = createFakeHub(partitions);
  const clients = standInForClients();
  const throttle: Throttle = createThrottle(replyLimits, time.now, { ms: 10_000 });
  /** Questions for the properties of a partition: the namespace answers 50 a second of all clients together. */
  const questions = createCounts(time.now);
  const replies = createCounts(time.now);
  const processes = new Map<unknown, Process>();
  const sent = new Map<string, number>();
  /** When the next question is answered. */
  let freeAt = 0;

  /** The client repeats a question that the namespace refuses, until it is answered. */
  async function inTurn<T>(ask: () => Promise<T>): Promise<T> {
    questions.count();
    freeAt = Math.max(freeAt, time.now()) + 1000 / mostQuestions;
    const waitMs = freeAt - time.now() - 1000;
    if (waitMs > 0) await new Promise((resolve) => setTimeout(resolve, waitMs));
    return ask();
  }

  /** What another process has done, it learns over its own network. */
  const told = (process: Process, handlers: Handlers): Handlers => ({
    ...handlers,
    async processError(...args) {
      time.on(process, () => setTimeout(() => void handlers.processError(...args), networkMs()));
    },
  });

  /** For a process, the connection string of its clients. */
  const accessFor = (process: Process): string =>
    clients.add(process.name, () => {
      const life = lifeOf(process, networkMs);
      processes.set(life, process);
      const client = log.client(life);
      return {
        ...client,
        getPartitionProperties: (...args) => inTurn(() => client.getPartitionProperties(...args)),
        subscribe: (partition: unknown, handlers: unknown, options?: unknown) =>
          (client.subscribe as (...args: unknown[]) => Subscription)(
            partition,
            told(process, handlers as Handlers),
            options,
          ),
      };
    });

  return {
    append(partition: string, device: string) {
      const sequenceNumber = sent.get(partition) ?? 0;
      sent.set(partition, sequenceNumber + 1);
      log.append(partition, {
        ...{ body, properties: {}, systemProperties: { 'iothub-connection-device-id': device }, sequenceNumber },
        offset: String(sequenceNumber * 1000),
        enqueuedTimeUtc: new Date(),
      });
      return sequenceNumber;
    },
    accessFor,
    /** Takes a reply, when its limit lets it pass. */
    takeReply: (process: Process) =>
      overNetwork(
        networkMs(),
        () => process.isCutFrom.hub,
        () =>
          new Promise<SendRefusal | undefined>((resolve) =>
            time.outside(() =>
              throttle.shape('c2d', (refusal) => {
                if (refusal === undefined) replies.count();
                resolve(refusal && { kind: 'later', reason: 'throttled' });
              }),
            ),
          ),
      ),
    /** The process that has the partition's receiver, runs, and is not cut off. */
    readerOf(partition: string) {
      const process = processes.get(log.readerOf(partition));
      return process?.canRead() ? process : undefined;
    },
    questions,
    replies,
    end() {
      throttle.close();
      clients.end();
    },
  };
}

type Client = Pick<EventHubConsumerClient, 'getPartitionIds' | 'getPartitionProperties' | 'subscribe' | 'close'>;

const verbs = ['getPartitionIds', 'getPartitionProperties', 'subscribe', 'close'] as const;

/** The clients of simulated processes: real ones, which the service makes and corrects, but what they do is done in memory. */
function standInForClients() {
  const opening = new Map<string, () => Client>();
  const standIns = new WeakMap<EventHubConsumerClient, Client>();
  const { prototype } = EventHubConsumerClient;
  const real = verbs.map((verb) => [verb, prototype[verb]] as const);

  function standInFor(client: EventHubConsumerClient): Client {
    const open = opening.get(client.fullyQualifiedNamespace);
    if (open === undefined) throw new Error(`no process has the hub ${client.fullyQualifiedNamespace}`);
    const known = standIns.get(client) ?? open();
    standIns.set(client, known);
    return known;
  }

  for (const verb of verbs) {
    Object.assign(prototype, {
      [verb](this: EventHubConsumerClient, ...args: never[]) {
        return (standInFor(this)[verb] as (...given: never[]) => unknown)(...args);
      },
    });
  }
  return {
    /**
     * @param open what a client with that connection string does
     * @returns the connection string
     */
    add(name: string, open: () => Client) {
      const host = `${name}.example`;
      opening.set(host, open);
      return `Endpoint=sb://${host}/;SharedAccessKeyName=name;SharedAccessKey=key;EntityPath=hub`;
    },
    end() {
      for (const [verb, method] of real) Object.assign(prototype, { [verb]: method });
    },
  };
}

/** The one core that a process works with. */
export function createProcessor(time: VirtualTime) {
  let freeAt = 0;
  /** All work until then. */
  let workedMs = 0;

  /** Without what lies ahead. */
  const busyMs = () => workedMs - Math.max(0, freeAt - time.now());

  return {
    /** Resolves when the work has had its turn. */
    work(ms: number): Promise<void> {
      freeAt = Math.max(freeAt, time.now()) + ms;
      workedMs += ms;
      return new Promise((resolve) => setTimeout(resolve, freeAt - time.now()));
    },
    /** Begins to measure; the returned function says which share of the time since then it was busy. */
    measure() {
      const [before, since] = [busyMs(), time.now()];
      return () => (busyMs() - before) / Math.max(1, time.now() - since);
    },
  };
}
