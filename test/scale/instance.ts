import { createProcessPauseWatch } from '../../src/concurrency/clocks.ts';
import { createAdaptiveLimit, createBudget } from '../../src/engine/budget.ts';
import { createTurnstile } from '../../src/engine/quarantine.ts';
import { createBacklog } from '../../src/engine/rooms.ts';
import type { MessageContext } from '../../src/engine/work.ts';
import { balanceLimits } from '../../src/hub/reading/balance.ts';
import { createConsumer } from '../../src/hub/reading/consumer.ts';
import { createSender } from '../../src/hub/replies/sender.ts';
import { createRateLimit, createSendQueue } from '../../src/hub/replies/sendQueue.ts';
import { createPendingSends } from '../../src/hub/replies/serviceClient.ts';
import { createLog, createTroubles } from '../../src/observing/log.ts';
import { beginStep } from '../../src/observing/observation.ts';
import type { HubEvent } from '../../src/protocol/event.ts';
import {
  backlogLimits,
  checkpointEveryMessages,
  leastMessages,
  mostRepliesInFlight,
  reading,
  stuckAfterMs,
  timing,
} from '../../src/settings/constants.ts';
import { partitionShare, processPauseMs, roundMs, settleWithinMs } from '../../src/settings/derived.ts';
import { createBlobStore } from '../../src/stores/blobCheckpoints.ts';
import { createProcessor, type Hub } from './hub.ts';
import type { Process } from './run.ts';
import type { Account, VirtualTime } from './world.ts';

/** The messages of a partition: which were handled, how often, and which are still to be handled. */
interface PartitionWork {
  readonly sentAt: number[];
  readonly handled: number[];
  /** All before this one are handled. */
  done: number;
  /** The newest that was handled, of each device. */
  readonly newestOf: Map<string, number>;
}

export type WorkRecord = ReturnType<typeof createWorkRecord>;
export type WorkTotal = ReturnType<WorkRecord['total']>;

/** What has become of the messages, from all that processes have done. */
export function createWorkRecord(time: VirtualTime, partitions: readonly string[]) {
  const all = new Map<string, PartitionWork>(
    partitions.map((id) => [id, { sentAt: [], handled: [], done: 0, newestOf: new Map() }]),
  );
  const parkedMarks = new Set<string>();
  let inversions = 0;

  const workOf = (partition: string): PartitionWork => {
    const work = all.get(partition);
    if (work === undefined) throw new Error(`there is no partition ${partition}`);
    return work;
  };

  function count(work: PartitionWork, sequenceNumber: number) {
    work.handled[sequenceNumber] = (work.handled[sequenceNumber] ?? 0) + 1;
    while ((work.handled[work.done] ?? 0) > 0) work.done += 1;
  }

  return {
    sent(partition: string) {
      const work = workOf(partition);
      work.sentAt.push(time.now());
      work.handled.push(0);
    },
    /** A message of ours takes effect. */
    handled(partition: string, device: string, sequenceNumber: number) {
      const work = workOf(partition);
      const newest = work.newestOf.get(device) ?? -1;
      if (work.handled[sequenceNumber] === 0 && sequenceNumber < newest) inversions += 1;
      work.newestOf.set(device, Math.max(newest, sequenceNumber));
      count(work, sequenceNumber);
    },
    parked(partition: string, sequenceNumber: number) {
      parkedMarks.add(`${partition}:${sequenceNumber}`);
      count(workOf(partition), sequenceNumber);
    },
    /** Seconds since the oldest message that is not handled was sent; 0 when all are. */
    behindSeconds() {
      let since = time.now();
      for (const { sentAt, done } of all.values()) since = Math.min(since, sentAt[done] ?? since);
      return (time.now() - since) / 1000;
    },
    total() {
      const works = [...all.values()];
      const sum = (of: (work: PartitionWork) => number) => works.reduce((total, work) => total + of(work), 0);
      const repeatsOf = ({ handled }: PartitionWork) =>
        handled.reduce((total, times) => total + Math.max(0, times - 1), 0);
      return {
        sent: sum(({ sentAt }) => sentAt.length),
        /** Messages that were never handled nor parked. */
        lost: sum(({ handled }) => handled.filter((times) => times === 0).length),
        /** Times that a message was handled again. */
        ...{ parked: parkedMarks.size, repeats: sum(repeatsOf), mostRepeats: Math.max(...works.map(repeatsOf)) },
        /** First handlings behind a later message of the same device. */
        inversions,
      };
    },
  };
}

/** What all instances have around them. */
export interface Surroundings {
  readonly time: VirtualTime;
  readonly hub: Hub;
  readonly account: Account;
  readonly record: WorkRecord;
  readonly costs: Costs;
}

export interface Costs {
  /** Milliseconds of the instance's one core. */
  readonly workMs: number;
  /** Milliseconds that its calls of backends take. */
  readonly callMs: number;
  /** Whether it is answered by a reply. */
  readonly isAnswered: boolean;
}

/** A message of this device ends the process, unless it is parked. */
export const fatalDevice = 'fatal';

const delivery = { maxMessages: 1_000, maxBytes: 64 * 1024 * 1024 };
const drainMs = 25_000;
const log = createLog('silent');

export type Instance = ReturnType<typeof startInstance>;

/** A running instance of the service: all of reading, order, checkpoints, quarantine and sending is its own code. */
export function startInstance(process: Process, surroundings: Surroundings) {
  const { time } = surroundings;
  const parts = time.on(process, () => begin(process, surroundings));
  return {
    process,
    isReady: () => time.on(process, () => parts.consumer.missing().length === 0),
    /** What `/livez` tells a kubelet. */
    isStuck: () => time.on(process, () => parts.consumer.silentForMs() >= stuckAfterMs),
    /** As by SIGTERM; resolves when the process has ended. */
    stop: () => time.on(process, parts.stop),
  };
}

function begin(process: Process, { time, hub, account, record, costs }: Surroundings) {
  const processor = createProcessor(time);
  const adaptiveLimit = createAdaptiveLimit({
    least: leastMessages,
    most: delivery.maxMessages,
    inLine: () => 0,
    measure: processor.measure,
  });
  const overall = createBudget(delivery, undefined, adaptiveLimit);
  const backlog = createBacklog(backlogLimits);
  const share = partitionShare(delivery);
  const turnstile = createTurnstile();
  const troubles = createTroubles(log);
  const sender = senderOf(process, hub);

  /** A message as `dispatch` handles it: it works, calls, answers, and ends early when it is told to. */
  async function handle(
    partition: string,
    { deviceId, event }: ReceivedMessage,
    context: MessageContext,
  ): Promise<boolean> {
    const { sequenceNumber } = event;
    const { ended, parkUnexecuted = false } = context;
    const open = new Set<ReturnType<typeof beginStep>>();
    context.begins?.({ begunAt: performance.now(), open });
    await processor.work(costs.workMs);
    if (!parkUnexecuted) {
      const step = beginStep(open, 'call', 'update', 'backend');
      step.waitsFor = 'answer';
      processPause.look();
      if (ended.aborted) return false;
      await new Promise((resolve) => setTimeout(resolve, costs.callMs));
      open.delete(step);
      processPause.look();
      if (ended.aborted) return false;
      if (deviceId === fatalDevice) {
        process.kill();
        return new Promise(() => {});
      }
      record.handled(partition, deviceId, sequenceNumber);
    } else record.parked(partition, sequenceNumber);
    if (!costs.isAnswered) return true;
    return (await sender.send(replyTo(deviceId, `${partition}-${sequenceNumber}`), ended)) !== 'stopped';
  }

  const consumer = createConsumer<ReceivedMessage>({
    ...reading,
    ...{ instance: process.name, access: hub.accessFor(process), consumerGroup: 'device-messaging' },
    ...{ startPosition: 'earliest', drainMs, roundMs: roundMs(timing.expirySeconds), answerMs: 20_000 },
    balance: balanceLimits(timing.expirySeconds * 1000, drainMs),
    store: createBlobStore({
      account: account.accessFrom(process),
      ...{ container: 'checkpoints', namespace: 'hub', hub: 'hub', consumerGroup: 'device-messaging' },
    }),
    log,
    partition: (partition) => ({
      budget: createBudget(share, overall),
      backlog,
      quarantine: { mostSuspects: share.maxMessages, turnstile, log },
      limits: { everyMessages: checkpointEveryMessages, everyMs: timing.checkpointSeconds * 1000 },
      receivedMessageOf: (event) => ({
        event,
        deviceId: String(event.systemProperties?.['iothub-connection-device-id']),
      }),
      costOf: () => 1_024,
      dispatch: (receivedMessage, context) => handle(partition, receivedMessage, context),
    }),
  });
  const processPause = createProcessPauseWatch(processPauseMs(timing.expirySeconds), consumer.stoodStill, {
    monotonic: () => performance.now(),
    wall: () => Date.now(),
    sinceBoot: () => performance.now(),
  });
  consumer.start();

  return {
    consumer,
    async stop() {
      await consumer.stop();
      processPause.stop();
      sender.stop();
      troubles.close();
      process.kill();
    },
  };
}

type ReceivedMessage = Readonly<{ event: HubEvent; deviceId: string }>;

/** As `createReplies` makes it, over a link to this hub. */
function senderOf(process: Process, hub: Hub) {
  const answerWithinMs = settleWithinMs(timing.replySeconds);
  const rateLimit = createRateLimit(Number.POSITIVE_INFINITY, answerWithinMs);
  const pending = createPendingSends(
    answerWithinMs,
    () => {},
    () => {},
  );
  return createSender({
    sendOnce(_reply, onSent) {
      onSent();
      return pending.follow(hub.takeReply(process));
    },
    sendQueue: createSendQueue(rateLimit, mostRepliesInFlight),
    ...{ maxWaitMs: timing.replySeconds * 1000, answerWithinMs, troubles: createTroubles(log) },
  });
}

const replyTo = (deviceId: string, messageId: string) => ({
  ...{ kind: 'acknowledgement' as const, deviceId, messageId, correlationId: undefined, properties: {}, body: '{}' },
});
