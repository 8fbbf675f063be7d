import type { Events } from './events.ts';

/** An event hub, by its name. */
export interface EventHub {
  readonly name: string;
  readonly events: Events;
}

/** What becomes of the endpoint that a hub leaves when it fails over: it is not there any more, or it has no new events. */
export const leftEndpoints = ['closed', 'silent'] as const;
export type LeftEndpoint = (typeof leftEndpoints)[number];

/** The built-in event endpoint of a hub, which has another one in its other region (H7). */
export interface Regions {
  readonly all: readonly EventHub[];
  /** The one that takes what devices send. */
  active(): EventHub;
  /** Whether the event hub of this name can be read. */
  isOpen(name: string): boolean;
  /** Fail over to the other region, or back. What the one that is left has kept is there again when it is active again. */
  failOver(left: LeftEndpoint): void;
}

/**
 * @param start name of the event hub that is active at first
 * @param moved called with the name of the one that is active from now on
 */
export function createRegions(
  primary: EventHub,
  secondary: EventHub,
  start = primary.name,
  moved: (name: string) => void = () => undefined,
): Regions {
  let active = start === secondary.name ? secondary : primary;
  let left: LeftEndpoint = 'closed';
  return {
    all: [primary, secondary],
    active: () => active,
    isOpen: (name) => left === 'silent' || active.name.toLowerCase() === name.toLowerCase(),
    failOver(leaving) {
      active = active === primary ? secondary : primary;
      left = leaving;
      moved(active.name);
    },
  };
}

/**
 * The events of the region that is active.
 * @param accept takes what devices send instead: the event hub behind a route
 */
export const eventsOf = ({ active }: Regions, accept?: Events['accept']): Events => ({
  get partitions() {
    return active().events.partitions;
  },
  accept: accept ?? ((login, message) => active().events.accept(login, message)),
  partitionOf: (key) => active().events.partitionOf(key),
});
