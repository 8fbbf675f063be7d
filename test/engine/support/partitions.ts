import { vi } from 'vitest';
import { createBudget } from '../../../src/engine/budget.ts';
import { createPartition, type PartitionOptions } from '../../../src/engine/partition.ts';
import { type Checkpoint, createRedeliveryHorizon } from '../../../src/engine/progressTracker.ts';
import { createBacklog } from '../../../src/engine/rooms.ts';
import type { MessageContext } from '../../../src/engine/work.ts';
import type { HubEvent } from '../../../src/protocol/event.ts';
import { bodyBytes, hubEvent } from '../../support/events.ts';

export const limits = { everyMessages: 100, everyMs: 5_000 };

/** Of a partition, for tests that are about something else. Trouble is a failure. */
export const usual = {
  /** One with room for all, for each partition that spreads this. */
  get backlog() {
    return backlogOf(1e6);
  },
  progress: undefined,
  redeliveryHorizon: createRedeliveryHorizon(-1),
  costOf: bodyBytes,
  checkpoint: async () => true,
  limits,
  onTrouble(error: unknown) {
    throw error;
  },
  onRevoked() {},
};

/** Half of it is the partition's. */
export const backlogOf = (maxMessages: number) => createBacklog({ maxMessages, maxBytes: 1e12 });

export function fullBacklog() {
  const backlog = backlogOf(1);
  backlog.ofPartition(() => {}).enter(1, []);
  return backlog;
}

export const budgetOf = (maxMessages: number) => createBudget({ maxMessages, maxBytes: 1e6 });

/** `a1 t2 b3`: device a at sequence number 1, telemetry at 2, device b at 3. */
export const events = (text: string): HubEvent[] =>
  text.split(' ').map((one) => {
    const sequenceNumber = Number(one.slice(1));
    return hubEvent({ sequenceNumber, properties: one[0] === 't' ? {} : { device: one[0] } });
  });

export function receivedMessageOf(event: HubEvent) {
  const deviceId = event.properties?.['device'];
  return typeof deviceId === 'string' ? { event, deviceId } : undefined;
}

export const positions = (checkpoints: readonly Checkpoint[]) => checkpoints.map((one) => one.sequenceNumber);

type Options = PartitionOptions<{ event: HubEvent; deviceId: string }>;

/**
 * A partition whose messages end when the test says so.
 * @param given takes the place of the usual
 */
export function partitionByHand(given: Partial<Options> = {}) {
  const started: number[] = [];
  const stays: MessageContext[] = [];
  const checkpoints: Checkpoint[] = [];
  const failures: string[] = [];
  const ends = new Map<number, (handled: boolean) => void>();
  const options: Options = {
    ...usual,
    budget: budgetOf(10),
    receivedMessageOf,
    dispatch({ event: { sequenceNumber } }, context) {
      started.push(sequenceNumber);
      stays.push(context);
      return new Promise((resolve) => ends.set(sequenceNumber, resolve));
    },
    async checkpoint(progress) {
      checkpoints.push(progress);
      return true;
    },
    onTrouble: (_error, what) => failures.push(what),
    ...given,
  };
  return {
    partition: createPartition(options),
    budget: options.budget,
    backlog: options.backlog,
    started,
    stays,
    checkpoints,
    failures,
    async end(sequenceNumber: number, handled = true) {
      ends.get(sequenceNumber)?.(handled);
      await vi.advanceTimersByTimeAsync(0);
    },
  };
}

export async function partitionWith(text: string, given?: Partial<Options>) {
  const byHand = partitionByHand(given);
  await byHand.partition.admit(events(text));
  return byHand;
}
