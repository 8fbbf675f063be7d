import type { FaultRequest } from '../../../sandbox/backends/faults.ts';

/**
 * What devices send of one message, in order, beginning with the example world. Texts may name what came up before as the
 * transcript does: `<objectId 1>`, `<identity gateway-1/edge>`.
 */
export interface Story {
  /** The name on the wire. */
  readonly message: string;
  readonly exchanges: readonly Said[];
}

export interface Said {
  /** A sentence about what happens. */
  readonly title: string;
  /** `pump-1` unless given. */
  readonly device?: string;
  /** The story's message unless given. */
  readonly message?: string;
  /** `correlationId` or `id`. */
  readonly id: string;
  /** Application properties beyond those that every message of its generation has, or in their place. */
  readonly properties?: Readonly<Record<string, string>>;
  /** A property that is left out. */
  readonly without?: string;
  /** Text is sent as it is, anything else as JSON. */
  readonly body: unknown;
  /** Sends the body as base64 of gzip. */
  readonly isCompressed?: boolean;
  /** The backends are only read, and some reads happen at the same time: the transcript has them in the order of their text. */
  readonly readsTogether?: boolean;
  /** Strikes a backend while the message is handled. */
  readonly fault?: FaultRequest;
}
