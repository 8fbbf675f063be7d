import type { Generation, HubEvent, Origin } from './event.ts';

/** A message for this service, attributed to the device that sent it. */
export interface Arrival {
  readonly event: HubEvent;
  readonly generation: Generation;
  readonly deviceId: string;
  readonly origin: Origin;
  /** Whether it may have been handled before: after a crash, or as a dead letter. */
  readonly redelivered: boolean;
  /** How often it has been parked before; 0 when it comes from the hub. */
  readonly attempts?: number;
}
