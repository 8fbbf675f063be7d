import type { Course, Step } from '../../observing/course.ts';
import type { Lanes, LaneView, Queued, Wait } from '../order/lanes.ts';
import type { CheckpointState, Checkpoints } from '../progress/checkpointWriter.ts';
import type { Quarantine } from '../quarantine/quarantine.ts';
import type { Work } from './work.ts';

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
  readonly oldest: OldestMessage | undefined;
  /**
   * When the hub received the oldest event that is read and not done, as `performance.now()`; undefined when all that was
   * read is done.
   */
  readonly undoneSince: number | undefined;
  readonly checkpoint: CheckpointState;
  /** Messages under suspicion of having ended the process (G4). */
  readonly suspects: number;
}

interface OldestMessage {
  readonly device: string;
  readonly sequenceNumber: number;
  /** When it was read from the hub, as `performance.now()`. */
  readonly readAt: number;
}

interface ReadMessage extends Queued {
  readonly readAt: number;
  readonly enqueuedAt: number;
}

interface Parts<M extends ReadMessage> {
  readonly checkpoints: Pick<Checkpoints, 'pending' | 'state'>;
  readonly work: Pick<Work<never>, 'running' | 'sleeping'>;
  readonly lanes: Pick<Lanes<M>, 'all' | 'count'>;
  readonly quarantine: Pick<Quarantine, 'suspects'> | undefined;
  /** As `undoneSince`: the event that waits to be taken in, which comes after all that is in the lanes. */
  readonly atTheDoor: number | undefined;
}

/** Walks over all lanes: only for when an operator asks. */
export function contentsOf<M extends ReadMessage>({
  checkpoints,
  work,
  lanes,
  quarantine,
  atTheDoor,
}: Parts<M>): PartitionContents {
  const inFlight = work.running();
  const oldest = oldestIn(lanes);
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

function oldestIn<M extends ReadMessage>(lanes: Pick<Lanes<M>, 'all'>): LaneView<M> | undefined {
  let oldest: LaneView<M> | undefined;
  for (const lane of lanes.all()) {
    if (oldest !== undefined && oldest.first.sequenceNumber < lane.first.sequenceNumber) continue;
    oldest = lane;
  }
  return oldest;
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

/** What a message does from its beginning on. */
export type MessageWork = Pick<Course, 'begunAt' | 'open'>;

interface ObservedMessage extends Queued {
  readonly readAt: number;
  readonly course?: MessageWork | undefined;
}

/**
 * Walks over all lanes: only for when an operator asks.
 * @param device only this one; undefined for all
 */
export function deviceWorkIn<M extends ObservedMessage>(
  lanes: Pick<Lanes<M>, 'all' | 'waits'>,
  device: string | undefined,
): DeviceWork[] {
  const waits = lanes.waits();
  const found: DeviceWork[] = [];
  for (const lane of lanes.all()) {
    if (device === undefined || lane.deviceId === device) found.push(workOf(lane, waits.get(lane)));
  }
  return found;
}

function workOf<M extends ObservedMessage>(
  { deviceId, first, length }: LaneView<M>,
  wait: Wait | undefined,
): DeviceWork {
  const { sequenceNumber, readAt, course } = first;
  return {
    device: deviceId,
    messages: length,
    sequenceNumber,
    readAt,
    state: stateOf(wait),
    needs: typeof wait === 'object' ? (wait.needs ?? []) : [],
    begunAt: course?.begunAt,
    steps: [...(course?.open ?? [])],
  };
}

function stateOf(wait: Wait | undefined): DeviceWork['state'] {
  if (wait === undefined) return 'in flight';
  if (wait === 'room') return 'waits for room';
  return wait === 'turn' ? 'waits for its turn' : 'waits for backends';
}
