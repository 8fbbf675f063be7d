import { v5 } from 'uuid';

export interface Place {
  readonly hub: string;
  readonly partition: string;
  readonly sequenceNumber: number;
  /** When the hub received it, in milliseconds since 1970. */
  readonly enqueuedTime: number;
}

/** The root of all derived ids, spelled out here: an error in the service's own would cancel itself out. */
const root = 'd3f3b7c6-52a1-5c0e-9c39-6f6f4f2e7a11';

/**
 * The message id of a reply to the event (A2, C1).
 * @param about what the reply says
 */
export function messageIdAt({ hub, partition, sequenceNumber, enqueuedTime }: Place, deviceId: string, about: string) {
  const event = v5(JSON.stringify([hub, partition, sequenceNumber, enqueuedTime, deviceId]), root);
  return v5(`reply ${about}`, event);
}
