import type { Course, Step } from '../../observing/course.ts';
import type { Lanes, LaneView, Wait } from './lanes.ts';
import type { Queued } from './queued.ts';

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
