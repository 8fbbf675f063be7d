/** What a message must do to the backends, given everything its device has sent before. */
export type Intent =
  /** A new object; `object` is absent where the service gives it its id (A2). */
  | { readonly does: 'create'; readonly object?: string }
  /** One version more, from `version` (A4). */
  | { readonly does: 'replace'; readonly object: string; readonly version: number }
  /** The attributes of the device's identity. */
  | { readonly does: 'identify' }
  /** Nothing but a refusal, or for `undefined` nothing at all: the message is not ours. */
  | { readonly does: 'nothing'; readonly code: string | undefined };

/** A message as its device sent it. */
export interface Sent {
  /** Its correlation id; unique in a history. Effects carry it as their mark. */
  readonly id: string;
  readonly deviceId: string;
  readonly ack: 'none' | 'positive' | 'negative' | 'all';
  readonly intent: Intent;
}

/** A change that a backend made for a message. */
export interface Effect {
  readonly id: string;
  /** Changes with the same key are one change: the backend has answered the repeats from memory. */
  readonly key: string;
}

/** A reply that the hub has taken. */
export interface Told {
  readonly id: string;
  readonly deviceId: string;
  readonly messageId: string;
  readonly kind: 'acknowledgement' | 'notification';
  readonly code: string | undefined;
  readonly success: boolean | undefined;
}

/** What the service has written down about a message it has handled. */
export interface Handled {
  readonly id: string;
  readonly code: string;
  /** Replies that it gave up, and says so. */
  readonly dropped: number;
  /** Remarks about notifications that it left out (D8). */
  readonly remarks: number;
}

/** What the backends hold of one device in the end. */
export interface State {
  /** Objects with an id of the device's choosing: id → version, and mark of the message that wrote it. */
  readonly objects: Readonly<Record<string, { readonly version: number; readonly mark: string }>>;
  /** Marks of the objects that got their id from the service, one each. */
  readonly anonymous: readonly string[];
  /** Mark of the message that wrote the identity's attributes. */
  readonly identity: string | undefined;
}

/** Everything that was seen of a run from outside the service, but for `handled` and `parked`. */
export interface History {
  /** Of each device, in the order of the hub. */
  readonly sent: readonly Sent[];
  /** In the order in which the calls arrived. */
  readonly effects: readonly Effect[];
  /** In the order of the hub. */
  readonly told: readonly Told[];
  /** In the order of the logs; more than once where a message was handled again. */
  readonly handled: readonly Handled[];
  /** Messages that a fault of a backend has met: these may fail through no fault of their own. */
  readonly struck: ReadonlySet<string>;
  /** Messages of which the hub has refused a reply or left one unanswered. */
  readonly refused: ReadonlySet<string>;
  /** Messages in the dead-letter store. */
  readonly parked: ReadonlySet<string>;
  readonly state: ReadonlyMap<string, State>;
  /** How often a message may have been handled again (G3). */
  readonly mostRepeats: number;
}
