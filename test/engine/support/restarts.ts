import { vi } from 'vitest';
import { createSemaphore } from '../../../src/backends/bulkhead.ts';
import { createDeadline } from '../../../src/backends/deadline.ts';
import { createBudget } from '../../../src/engine/budget.ts';
import { createPartition, type Partition } from '../../../src/engine/partition.ts';
import { type Checkpoint, createRedeliveryHorizon } from '../../../src/engine/progressTracker.ts';
import { createTurnstile } from '../../../src/engine/quarantine.ts';
import { createForeignCheckpointCheck, startPositionOf } from '../../../src/hub/reading/startPosition.ts';
import { createLog } from '../../../src/observing/log.ts';
import { beginStep, type Step } from '../../../src/observing/observation.ts';
import type { HubEvent } from '../../../src/protocol/event.ts';
import { hubEvent } from '../../support/events.ts';
import { neverCrashing } from '../../support/processLife.ts';
import { usual } from './partitions.ts';

/** How the messages of a device behave; a device without an entry is quick. */
export interface Behaviour {
  /** Handling takes so long: each call of a backend. */
  readonly ms?: number;
  readonly calls?: number;
  /** Its reply waits so long for the full queue of its device. */
  readonly sleepsMs?: number;
  /** Then the process ends. */
  readonly isFatal?: boolean;
  /** Also when it is only answered and parked. */
  readonly isFatalUnexecuted?: boolean;
}

export interface Given {
  /** Of each partition: `a0 k1 b2` is device a at sequence number 0, k at 1, b at 2. */
  readonly partitions: readonly string[];
  readonly devices?: Readonly<Record<string, Behaviour>>;
  /** How a session is ended from outside, by its number from 0: killed, or stopped, after so many milliseconds. */
  readonly interrupted?: (session: number) => { readonly killMs?: number; readonly stopMs?: number } | undefined;
  readonly mostSuspects?: number;
  readonly mostMessages?: number;
  /** To the backends: each call takes one. */
  readonly connections?: number;
}

const mostSessions = 60;
const mostSeconds = 1_200;
const quickMs = 10;
const drainMs = 1_000;

/**
 * Processes over the same partitions, one after the other, until everything is handled. Partition, budget and notes are
 * the service's; the hub, the store and the work are in memory.
 */
export async function runToTheEnd(given: Given) {
  const { partitions, devices = {}, interrupted, mostSuspects = 100 } = given;
  const { mostMessages = 100, connections = Number.POSITIVE_INFINITY } = given;
  const events = partitions.map((text) =>
    text.split(' ').map((one) => hubEvent({ sequenceNumber: Number(one.slice(1)), device: one.slice(0, 1) })),
  );
  const written: (Checkpoint | undefined)[] = partitions.map(() => undefined);
  const isGivenBack = partitions.map(() => true);
  /** Messages handled to their end, in the order in which they were, the first time. */
  const handled: string[] = [];
  const parked: string[] = [];
  const ends: string[][] = [];
  /** Milliseconds of all processes until the message was handled, restarts aside. */
  const handledAfterMs = new Map<string, number>();
  let ranMs = 0;
  let writes = 0;

  async function session(number: number) {
    const life = neverCrashing();
    const began = Date.now();
    const working = new Set<string>();
    const overall = createBudget({ maxMessages: 2 * mostMessages, maxBytes: 1e6 });
    const places = createSemaphore(connections);
    const turnstile = createTurnstile();
    void life.death.then(() => ends.push([...working].sort()));

    const storeOf = (index: number) => ({
      progress: async () => written[index],
      checkpoints: async () => [],
      writeCheckpoint: (_: unknown, next: Checkpoint) =>
        life.step(async () => {
          writes += 1;
          written[index] = next;
          return true;
        }),
    });

    async function open(index: number): Promise<Partition> {
      const own = events[index] as HubEvent[];
      const newest = own.at(-1)?.sequenceNumber ?? -1;
      const extent = {
        beginningSequenceNumber: 0,
        lastEnqueuedSequenceNumber: newest,
        lastEnqueuedOffset: 'last',
        lastEnqueuedOnUtc: new Date(0),
      };
      const store = storeOf(index);
      const record = { partition: String(index), owner: 'me', epoch: 1 } as Parameters<typeof startPositionOf>[0];
      const afterUncleanShutdown = number > 0 && isGivenBack[index] === false;
      const extentOf = async () => extent;
      const progress = await startPositionOf(record, {
        ...{ store, extentOf, partitionIds: () => Object.keys(events) },
        ...{ checkCheckpoint: createForeignCheckpointCheck(), startPosition: 'earliest' },
        afterUncleanShutdown,
      });
      isGivenBack[index] = false;
      const partition = createPartition({
        ...usual,
        budget: createBudget({ maxMessages: mostMessages, maxBytes: 1e6 }, overall),
        progress,
        redeliveryHorizon: createRedeliveryHorizon(newest),
        receivedMessageOf: (event) => ({ event, deviceId: deviceOf(event) }),
        dispatch({ event, deviceId }, { charge, begins, ended, parkUnexecuted }) {
          const name = nameOf(event);
          const behaviour = devices[deviceId] ?? {};
          const {
            isFatal = false,
            sleepsMs = 0,
            ...work
          }: Behaviour = parkUnexecuted ? { isFatal: behaviour.isFatalUnexecuted === true } : behaviour;
          const open = new Set<Step>();
          begins?.({ begunAt: performance.now(), open });
          working.add(name);
          return life.step(async () => {
            let isDone = await called(work, places, open, ended);
            if (isDone && isFatal) life.kill();
            else working.delete(name);
            if (isDone && sleepsMs > 0) {
              charge.sleeps(() => {});
              isDone = await passed(sleepsMs, ended);
            }
            if (isDone && !isFatal && !handledAfterMs.has(name)) {
              (parkUnexecuted ? parked : handled).push(name);
              handledAfterMs.set(name, ranMs + Date.now() - began);
            }
            return isDone;
          });
        },
        checkpoint: (next) => store.writeCheckpoint(undefined, next),
        limits: { everyMessages: 50, everyMs: 5_000 },
        quarantine: { mostSuspects, turnstile, log: createLog('silent') },
        onTrouble() {},
      });
      void partition.admit(own);
      return partition;
    }

    const opened = await Promise.all(partitions.map((_, index) => open(index)));
    const isAllDone = () => written.every((one, n) => one?.sequenceNumber === events[n]?.at(-1)?.sequenceNumber);
    const { killMs = Number.POSITIVE_INFINITY, stopMs = Number.POSITIVE_INFINITY } = interrupted?.(number) ?? {};
    let isDead = false;
    void life.death.then(() => (isDead = true));
    for (let at = 0; at < mostSeconds * 1_000 && !isDead && !isAllDone(); at += 100) {
      if (at >= killMs) life.kill();
      if (at >= stopMs) break;
      await vi.advanceTimersByTimeAsync(100);
    }
    if (!isDead) {
      const drained = Promise.all(opened.map((one) => one.drain(drainMs)));
      await vi.advanceTimersByTimeAsync(drainMs + 10_000);
      await Promise.race([drained, life.death]);
      if (!isDead) isGivenBack.fill(true);
    }
    ranMs += Date.now() - began;
    for (const one of opened) one.revoke();
    vi.clearAllTimers();
    return isAllDone();
  }

  let sessions = 0;
  while (sessions < mostSessions && !(await session(sessions))) sessions += 1;
  return { handled, handledAfterMs, ranMs, parked, ends, written, writes };
}

const deviceOf = (event: HubEvent) => `${event.systemProperties?.['iothub-connection-device-id']}`;
const nameOf = (event: HubEvent | undefined) => (event ? `${deviceOf(event)}${event.sequenceNumber}` : '');

async function called(
  { ms = quickMs, calls = 1 }: Behaviour,
  places: ReturnType<typeof createSemaphore>,
  open: Set<Step>,
  ended: AbortSignal,
): Promise<boolean> {
  for (let call = 0; call < calls; call += 1) {
    const step = beginStep(open, 'call', 'update', 'backend');
    try {
      if (!places.tryAcquire()) await places.acquire(createDeadline(3_600, ended), 'a connection');
    } catch {
      return false;
    }
    step.waitsFor = 'answer';
    const isDone = await passed(ms, ended);
    places.release();
    open.delete(step);
    if (!isDone) return false;
  }
  return true;
}

function passed(ms: number, ended: AbortSignal): Promise<boolean> {
  return new Promise((resolve) => {
    const timer = setTimeout(() => resolve(true), ms);
    ended.addEventListener('abort', () => {
      clearTimeout(timer);
      resolve(false);
    });
  });
}
