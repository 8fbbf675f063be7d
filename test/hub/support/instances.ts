import { decodeCompletion, isDone } from '../../../src/engine/completionMap.ts';
import { type Consumer, createConsumer } from '../../../src/hub/reading/consumer.ts';
import type { CheckpointStore } from '../../../src/stores/checkpointStore.ts';
import { createMemoryStore } from '../../../src/stores/fileCheckpoints.ts';
import { hubEvent } from '../../support/events.ts';
import type { OrderedTimers } from '../../support/orderedTimers.ts';
import { neverCrashing, type ProcessLife } from '../../support/processLife.ts';
import { createFakeHub } from './fakeHub.ts';
import { storeThrough, usualOpened, usualReading } from './reading.ts';
import type { StandIns } from './standIns.ts';

export const partitions = ['0', '1'];
export const names = ['first', 'second', 'third', 'last'] as const;
type Name = (typeof names)[number];

/** Longer than it takes until the next message comes: there is always work in hand. */
const handlingMs = 70;
const silentMs = 4_000;
/** How long one may pause: longer than its ownerships last. */
export const longestPauseMs = 1_500;
const rounds = { roundMs: 100, answerMs: 250, drainMs: 200, balance: { expiryMs: 500, forceMs: 700 } };

interface Surroundings extends OrderedTimers {
  readonly clients: StandIns;
}

/** A message handled by somebody: `partition:sequence number`. */
type Mark = string;

/**
 * Four instances come and go: one begins alone, the next ones ask for their share, each but the last is stopped.
 * @param lives of those who may fail; nobody else does
 */
export async function run({ clients, pass, clear }: Surroundings, lives: Partial<Record<Name, ProcessLife>>) {
  const hub = createFakeHub(partitions);
  const store = createMemoryStore();
  const effects: Mark[] = [];
  const begun = new Set<Mark>();
  /** Handled although a checkpoint said that they were done. */
  const repeated: Mark[] = [];
  /** Begun again without being told that this may be so. */
  const unmarked: Mark[] = [];
  const writes: { partition: string; epoch: number; owner: string; sequenceNumber: number }[] = [];
  const instances = new Map<Name, Consumer>();
  let sent = 0;

  function send() {
    for (const partition of partitions)
      hub.append(partition, hubEvent({ sequenceNumber: sent, device: `${partition}${sent % 3}` }));
    sent += 1;
  }

  function isWritten(sequenceNumber: number, progress: Awaited<ReturnType<CheckpointStore['progress']>>): boolean {
    if (progress === undefined) return false;
    const above = decodeCompletion(progress.sequenceNumber, progress.completed);
    return sequenceNumber <= progress.sequenceNumber || (above !== undefined && isDone(above, sequenceNumber));
  }

  function enter(name: Name) {
    const own = lives[name] ?? neverCrashing();
    clients.set(name, () => hub.client(own));
    const through: CheckpointStore = {
      ...storeThrough(store, own.step),
      writeCheckpoint: (reader, next) =>
        own.step(async () => {
          const isOwner = await store.writeCheckpoint(reader, next);
          const { sequenceNumber = -1 } = (await store.progress(reader.partition)) ?? {};
          if (isOwner) writes.push({ ...reader, sequenceNumber });
          return isOwner;
        }),
    };
    const consumer = createConsumer({
      ...usualReading,
      ...rounds,
      ...{ instance: name, access: name, batchSize: 3, prefetch: 10, silentMs, store: through },
      partition: (partition) => ({
        ...usualOpened(),
        receivedMessageOf: (event, redelivered) => ({
          event,
          deviceId: String(event.systemProperties?.['iothub-connection-device-id']),
          redelivered,
        }),
        dispatch({ event: { sequenceNumber }, redelivered }) {
          const mark = `${partition}:${sequenceNumber}`;
          if (!redelivered && begun.has(mark)) unmarked.push(mark);
          begun.add(mark);
          return own.step(async () => {
            if (isWritten(sequenceNumber, await store.progress(partition))) repeated.push(mark);
            effects.push(mark);
            await new Promise((resolve) => setTimeout(resolve, handlingMs));
            return true;
          });
        },
        limits: { everyMessages: 3, everyMs: 100 },
      }),
    });
    instances.set(name, consumer);
    void own.death.then(() => consumer.stop()); // only its timers are left to end
    consumer.start();
  }

  const leave = (name: Name) => void instances.get(name)?.stop();
  const progressOfAll = () => Promise.all(partitions.map((partition) => store.progress(partition)));

  async function isAllWritten(): Promise<boolean> {
    return (await progressOfAll()).every((progress) => progress?.sequenceNumber === sent - 1);
  }

  const trickle = setInterval(send, 60);
  enter('first');
  await pass(250);
  enter('second');
  await pass(450);
  leave('first');
  await pass(300);
  enter('third');
  await pass(450);
  leave('second');
  await pass(300);
  enter('last');
  await pass(450);
  leave('third');
  await pass(300);
  clearInterval(trickle);
  await pass(longestPauseMs + rounds.drainMs);
  for (let ms = 0; ms < silentMs && !(await isAllWritten()); ms += rounds.roundMs) await pass(rounds.roundMs);
  leave('last');
  await pass(1_000);
  clear();

  const progress = await progressOfAll();
  const all = partitions.flatMap((partition) => Array.from({ length: sent }, (_, index) => `${partition}:${index}`));
  return { effects, repeated, unmarked, writes, all, progress, newest: sent - 1 };
}

export type Run = Awaited<ReturnType<typeof run>>;
