/** One event of a partition: the encoded AMQP message is made once and sent as it is to every receiver. */
export interface LoggedEvent {
  sequenceNumber: number;
  /** Byte position in the partition; on the wire an opaque string. */
  offset: number;
  /** Milliseconds since 1970. */
  enqueuedTime: number;
  bytes: Buffer;
}

/** Where a new event will stand: what its annotations must say. */
export type EventPosition = Omit<LoggedEvent, 'bytes'>;
