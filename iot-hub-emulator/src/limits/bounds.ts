const mebibyte = 1024 * 1024;

/** How much a hub keeps of what clients send it, in bytes but for links. */
export interface Bounds {
  /** Events of a partition: the oldest go, as retention has it. Its file, if there is one, has twice as much at most. */
  partition: number;
  /** Messages in the queues of all devices together: a further one is refused. */
  queues: number;
  /** Feedback that no service has fetched: the oldest goes. The same of notifications of files. */
  feedback: number;
  /** Entries of the journal: the oldest goes. */
  journal: number;
  /** What was written to a client that does not read it: the connection ends. */
  unread: number;
  /** Links that a client may have on one AMQP connection: the connection ends (H14). */
  links: number;
  /** A message over AMQP, as links announce it to clients: a larger one is rejected before all of it has come. */
  message: number;
  /** A message over a WebSocket, whatever it carries: the connection ends. */
  webSocketMessage: number;
}

export const bounds: Bounds = {
  partition: 64 * mebibyte,
  queues: 64 * mebibyte,
  feedback: 8 * mebibyte,
  journal: 64 * mebibyte,
  unread: 8 * mebibyte,
  links: 16_384,
  message: mebibyte,
  webSocketMessage: 8 * mebibyte,
};
