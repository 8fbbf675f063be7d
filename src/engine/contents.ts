import type { Step } from '../observing/observation.ts';
import type { CheckpointState, Checkpoints } from './checkpointWriter.ts';
import type { Lane, Lanes } from './lanes.ts';
import type { Quarantine } from './quarantine.ts';
import type { QueuedMessage } from './work.ts';

/** What a partition holds, for operators. */
export interface PartitionContents {
  /** Messages whose handling has begun and whose replies are not all settled. */
  readonly inFlight: number;
  /** Those of them that wait for the full queues of devices, or behind such a message of their device to be recorded as done. */
  readonly sleeping: number;
  /** Read and waiting to begin. */
  readonly waiting: number;
  /** Devices with messages here: each has a lane. */
  readonly devices: number;
  /** The oldest message that is not handled to its end. */
  readonly oldest: Pick<DeviceWork, 'device' | 'sequenceNumber' | 'readAt'> | undefined;
  /**
   * When the hub received the oldest event that is read and not done, as `performance.now()`; undefined when all that was
   * read is done.
   */
  readonly undoneSince: number | undefined;
  readonly checkpoint: CheckpointState;
  /** Messages under suspicion of having ended the process (G4). */
  readonly suspects: number;
}

type MessageLanes = Pick<Lanes<QueuedMessage<unknown>>, 'all' | 'count'>;

interface Parts {
  readonly checkpoints: Pick<Checkpoints, 'pending' | 'state'>;
  readonly work: { running(): number; sleeping(): number };
  readonly lanes: MessageLanes;
  readonly quarantine: Pick<Quarantine, 'suspects'> | undefined;
  /** As `undoneSince`: the event that waits to be taken in, which comes after all that is in the lanes. */
  readonly atTheDoor: number | undefined;
}

/** Walks over all lanes: only for when an operator asks. */
export function contentsOf({ checkpoints, work, lanes, quarantine, atTheDoor }: Parts): PartitionContents {
  const inFlight = work.running();
  let oldest: Lane<QueuedMessage<unknown>> | undefined;
  for (const lane of lanes.all()) {
    if (oldest === undefined || lane.first.sequenceNumber <= oldest.first.sequenceNumber) oldest = lane;
  }
  return {
    inFlight,
    sleeping: work.sleeping(),
    waiting: Math.max(0, checkpoints.pending() - inFlight),
    devices: lanes.count(),
    oldest: oldest && {
      device: oldest.deviceId,
      sequenceNumber: oldest.first.sequenceNumber,
      readAt: oldest.first.readAt,
    },
    undoneSince: oldest?.first.enqueuedAt ?? atTheDoor,
    checkpoint: checkpoints.state(),
    suspects: quarantine?.suspects() ?? 0,
  };
}

/** What the oldest message of a device does or waits for, for operators. */
export interface DeviceWork {
  readonly device: string;
  /** Messages of the device that are read and not handled to their end. */
  readonly messages: number;
  /** Of the oldest. */
  readonly sequenceNumber: number;
  /** When the oldest was read from the hub, as `performance.now()`. */
  readonly readAt: number;
  readonly state: 'in flight' | 'waits for room' | 'waits for backends' | 'waits for its turn';
  /** The backends that it waits for, or one of which it waits for. */
  readonly needs: readonly string[];
  /** When its handling began, as `performance.now()`; undefined while it waits. */
  readonly begunAt: number | undefined;
  /** Backend calls and replies in progress. */
  readonly steps: readonly Readonly<Step>[];
}

/**
 * Walks over all lanes: only for when an operator asks.
 * @param device only this one; undefined for all
 */
export function deviceWorkIn(lanes: Pick<MessageLanes, 'all'>, device: string | undefined): DeviceWork[] {
  const chosen = [...lanes.all()].filter(({ deviceId }) => device === undefined || deviceId === device);
  return chosen.map(({ deviceId, length, wait, first: { sequenceNumber, readAt, course } }) => ({
    device: deviceId,
    messages: length,
    sequenceNumber,
    readAt,
    state: typeof wait === 'object' ? 'waits for backends' : states[wait ?? 'none'],
    needs: typeof wait === 'object' ? (wait.needs ?? []) : [],
    begunAt: course?.begunAt,
    steps: [...(course?.open ?? [])],
  }));
}

const states = { none: 'in flight', room: 'waits for room', turn: 'waits for its turn' } as const;
