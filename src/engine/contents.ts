import type { Course, Step } from '../observing/observation.ts';
import type { CheckpointState, Checkpoints } from './checkpointWriter.ts';
import type { Lanes, LaneView, Queued, Wait } from './lanes.ts';
import type { Quarantine } from './quarantine.ts';

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

/** A message that is read, and what it does from its beginning on. */
interface ReadMessage extends Queued {
  readonly readAt: number;
  readonly enqueuedAt: number;
  readonly course?: MessageWork | undefined;
}
export type MessageWork = Pick<Course, 'begunAt' | 'open'>;

interface Parts<M extends ReadMessage> {
  readonly checkpoints: Pick<Checkpoints, 'pending' | 'state'>;
  readonly work: { running(): number; sleeping(): number };
  readonly lanes: Pick<Lanes<M>, 'all' | 'count'>;
  readonly quarantine: Pick<Quarantine, 'suspects'> | undefined;
  /** As `undoneSince`: the event that waits to be taken in, which comes after all that is in the lanes. */
  readonly atTheDoor: number | undefined;
}

/** Walks over all lanes: only for when an operator asks. */
export function contentsOf<M extends ReadMessage>(parts: Parts<M>): PartitionContents {
  const { checkpoints, work, lanes, quarantine, atTheDoor } = parts;
  const inFlight = work.running();
  let oldest: LaneView<M> | undefined;
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
export function deviceWorkIn<M extends Pick<ReadMessage, keyof Queued | 'readAt' | 'course'>>(
  lanes: Pick<Lanes<M>, 'all' | 'waits'>,
  device: string | undefined,
): DeviceWork[] {
  const waits = lanes.waits();
  const chosen = [...lanes.all()].filter(({ deviceId }) => device === undefined || deviceId === device);
  return chosen.map((lane) => {
    const { sequenceNumber, readAt, course } = lane.first;
    const wait = waits.get(lane);
    return {
      device: lane.deviceId,
      messages: lane.length,
      sequenceNumber,
      readAt,
      state: stateOf(wait),
      needs: typeof wait === 'object' ? (wait.needs ?? []) : [],
      begunAt: course?.begunAt,
      steps: [...(course?.open ?? [])],
    };
  });
}

function stateOf(wait: Wait | undefined): DeviceWork['state'] {
  if (wait === undefined) return 'in flight';
  if (wait === 'room') return 'waits for room';
  return wait === 'turn' ? 'waits for its turn' : 'waits for backends';
}
