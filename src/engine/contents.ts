import type { Step } from '../observing/observation.ts';
import type { Checkpoints } from './checkpointWriter.ts';
import type { Lane, Lanes } from './lanes.ts';
import type { Quarantine } from './quarantine.ts';
import type { QueuedMessage } from './work.ts';

type MessageLanes = Pick<Lanes<QueuedMessage<unknown>>, 'all' | 'count'>;

interface Parts {
  readonly checkpoints: Pick<Checkpoints, 'pending' | 'state'>;
  readonly work: { running(): number; sleeping(): number };
  readonly lanes: MessageLanes;
  readonly quarantine: Pick<Quarantine, 'suspects'> | undefined;
  /** As `undoneSince`: the event that waits to be taken in, which comes after all that is in the lanes. */
  readonly atTheDoor: number | undefined;
}

/** What a partition holds, for operators. Walks over all lanes: only for when one asks. */
export function contentsOf({ checkpoints, work, lanes, quarantine, atTheDoor }: Parts) {
  const inFlight = work.running();
  let oldest: Lane<QueuedMessage<unknown>> | undefined;
  for (const lane of lanes.all()) {
    if (oldest === undefined || lane.first.sequenceNumber <= oldest.first.sequenceNumber) oldest = lane;
  }
  return {
    /** Messages whose handling has begun and whose replies are not all settled. */
    inFlight,
    /** Those of them that wait for the full queues of devices, or behind such a message of their device to be recorded as done. */
    sleeping: work.sleeping(),
    /** Read and waiting to begin. */
    waiting: Math.max(0, checkpoints.pending() - inFlight),
    /** Devices with messages here: each has a lane. */
    devices: lanes.count(),
    /** The oldest message that is not handled to its end. */
    oldest: oldest && {
      device: oldest.deviceId,
      sequenceNumber: oldest.first.sequenceNumber,
      readAt: oldest.first.readAt,
    },
    /**
     * When the hub received the oldest event that is read and not done, as `performance.now()`; undefined when all that was
     * read is done.
     */
    undoneSince: oldest?.first.enqueuedAt ?? atTheDoor,
    checkpoint: checkpoints.state(),
    /** Messages under suspicion of having ended the process (G4). */
    suspects: quarantine?.suspects() ?? 0,
  };
}

/** What the oldest message of a device does or waits for, for operators. */
export type DeviceWork = ReturnType<typeof workOf>;

/**
 * Walks over all lanes: only for when an operator asks.
 * @param device only this one; undefined for all
 */
export function deviceWorkIn(lanes: Pick<MessageLanes, 'all'>, device: string | undefined): DeviceWork[] {
  return [...lanes.all()].filter(({ deviceId }) => device === undefined || deviceId === device).map(workOf);
}

const workOf = ({
  deviceId,
  length,
  wait,
  first: { sequenceNumber, readAt, observation },
}: Lane<QueuedMessage<unknown>>) => ({
  device: deviceId,
  /** Messages of the device that are read and not handled to their end. */
  messages: length,
  /** Of the oldest. */
  sequenceNumber,
  /** When the oldest was read from the hub, as `performance.now()`. */
  readAt,
  state: typeof wait === 'object' ? ('waits for backends' as const) : states[wait ?? 'none'],
  /** The backends that it waits for, or one of which it waits for. */
  needs: typeof wait === 'object' ? (wait.needs ?? []) : [],
  /** When its handling began, as `performance.now()`; undefined while it waits. */
  begunAt: observation?.begunAt,
  /** Backend calls and replies in progress. */
  steps: [...(observation?.open ?? [])] as readonly Step[],
});

const states = { none: 'in flight', room: 'waits for room', turn: 'waits for its turn' } as const;
