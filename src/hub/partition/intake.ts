import type { HubEvent } from '../../protocol/event.ts';
import { textProperties } from '../../protocol/properties.ts';
import type { Tell } from '../../tap/taps.ts';
import type { Backlog, Kept } from './backlog.ts';
import type { Budget } from './budget.ts';
import type { Condition } from './condition.ts';
import type { Lanes, Requirement } from './lanes.ts';
import type { Screening } from './screening.ts';
import type { Begun } from './watermark.ts';
import type { Message } from './work.ts';

/** An event to be handled, and its device. */
export interface Arriving {
  readonly event: HubEvent;
  readonly deviceId: string;
}

interface IntakeOptions<A> {
  readonly budget: Pick<Budget, 'take' | 'give'>;
  readonly lanes: Lanes<Message<A>>;
  readonly backlog: Backlog<A>;
  readonly condition: Condition;
  readonly draining: AbortSignal;
  costOf(event: HubEvent): number;
  requirementOf?(arrival: A): Requirement | undefined;
  /** Undefined while nobody follows the device. */
  tellOf?(arrival: A): Tell | undefined;
  /** Suspects go to their lanes and wait there for their trial. */
  readonly screening?: Pick<Screening<Message<A>>, 'isSuspect'> | undefined;
  /** Registers an accepted message. */
  begin(event: HubEvent): Begun;
  /** Most messages of one device that are kept in memory. */
  readonly deviceMessages: number;
}

const nothing: Requirement = { isMet: () => true, met: async () => true };

/** @param readAt when the message was read from the hub, in ms since 1970 */
type Intake<A> = (arrival: A, readAt: number) => Promise<void>;

/**
 * Accepts one message. A message that can begin waits for the budget: that is the back-pressure. One whose device is
 * busy or whose backend is down goes to the backlog and delays other messages only when that is full (D27).
 */
export function createIntake<A extends Arriving>(options: IntakeOptions<A>): Intake<A> {
  const { budget, lanes, backlog, condition, draining, costOf, begin, deviceMessages, screening } = options;

  return async (arrival, readAt) => {
    const { event, deviceId } = arrival;
    const tell = options.tellOf?.(arrival);
    tell?.('read', readFields(event, readAt));
    const requirement = options.requirementOf?.(arrival) ?? nothing;
    const cost = costOf(event);
    const canBegin = () =>
      lanes.length(deviceId) === 0 && requirement.isMet() && !screening?.isSuspect(event.sequenceNumber);
    const messageOf = (kept: A | Kept<A>): Message<A> => ({
      next: undefined,
      steps: undefined,
      kept,
      sequenceNumber: event.sequenceNumber,
      cost,
      requirement,
      begun: begin(event),
      readAt,
    });

    function tellWaits(where: 'memory' | 'disk' | 'hub') {
      const earlier = lanes.length(deviceId);
      const why = earlier > 0 ? 'earlier messages of the device' : requirement.isMet() ? 'its turn' : 'a backend';
      tell?.('waits', { where, for: why, earlier, needs: requirement.needs });
    }

    /** Returns whether the message has begun. */
    async function beginInTurn(): Promise<boolean> {
      const taking = budget.take(cost, draining);
      if (taking !== undefined) {
        tell?.('waits', { where: 'memory', for: 'room', earlier: 0 });
        if (!(await taking)) return false;
      }
      if (canBegin() && !draining.aborted) {
        lanes.begin(deviceId, messageOf(arrival));
        return true;
      }
      budget.give(cost);
      return false;
    }

    function keep(where: Backlog<A>['inMemory'], place: 'memory' | 'disk'): boolean {
      const kept = where(arrival);
      if (kept === undefined) return false;
      tellWaits(place);
      lanes.add(deviceId, messageOf(kept));
      return true;
    }

    const keepInMemory = () => lanes.length(deviceId) < deviceMessages && keep(backlog.inMemory, 'memory');
    let isWatched = false;
    let isTold = false;

    /** The requirement can be met before the spool has room again. */
    function watch() {
      if (isWatched || requirement.isMet()) return;
      isWatched = true;
      void requirement.met(draining).then(() => {
        isWatched = false;
        condition.changed();
      });
    }

    while (!draining.aborted) {
      if (canBegin()) {
        if (await beginInTurn()) return;
      } else if (keepInMemory()) return;
      else if (keep(backlog.onDisk, 'disk')) return;
      else {
        watch();
        if (!isTold) tellWaits('hub');
        isTold = true;
        await condition.change();
      }
    }
  };
}

/** For those who follow the device. */
const readFields = ({ body, properties = {}, enqueuedTimeUtc }: HubEvent, readAt: number) => ({
  hubWaitMs: Math.max(0, readAt - enqueuedTimeUtc.getTime()),
  bytes: body instanceof Uint8Array ? body.byteLength : undefined,
  properties: textProperties(properties),
});
