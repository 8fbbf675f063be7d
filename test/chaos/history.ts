/** What a message must do to the backends, given everything its device has sent before. */
export type Intent =
  /** A new object, or one version more of one that is there; `object` is absent where the service gives it its id (A2). */
  | { readonly does: 'create'; readonly object?: string; readonly tells: readonly Subject['model'][] }
  /** One version more, from `version` (A4). */
  | { readonly does: 'replace'; readonly object: string; readonly version: number }
  /** A type version, once. */
  | { readonly does: 'define'; readonly type: string }
  | { readonly does: 'refer'; readonly object: string; readonly to: string }
  | { readonly does: 'identify' }
  | { readonly does: 'remove'; readonly identity: string }
  /** Nothing, but to tell of the object, its configuration, and with `contained` of what it refers to. */
  | { readonly does: 'fetch'; readonly object: string; readonly contained: boolean }
  /** To end each process that calls a backend for it, until it is parked without being executed. */
  | { readonly does: 'end the process' }
  /** Nothing but a refusal, or for `undefined` nothing at all: the message is not ours. */
  | { readonly does: 'nothing'; readonly code: string | undefined };

export interface Sent {
  /** Its correlation id; unique in a history. Effects carry it as their mark. */
  readonly id: string;
  readonly deviceId: string;
  readonly ack: 'none' | 'positive' | 'negative' | 'all';
  readonly intent: Intent;
}

export interface Effect {
  readonly id: string;
  /** Changes with the same key are one change: the backend has answered the repeats from memory. */
  readonly key: string;
}

export interface Subject {
  readonly object: string;
  readonly model: 'svc.device' | 'svc.configuration';
  readonly version: number;
  /** Whether it says that the model was created, or else updated. */
  readonly isNew: boolean;
}

export interface Told {
  readonly id: string;
  readonly deviceId: string;
  readonly messageId: string;
  readonly code?: string;
  readonly success?: boolean;
  readonly about?: Subject;
}

export interface Handled {
  readonly id: string;
  readonly partition: string;
  readonly code: string;
  /** Replies that it gave up, and says so. */
  readonly dropped: number;
  /** Remarks about notifications that it left out (A11). */
  readonly remarks: number;
}

/** What the backends hold of one device in the end. A mark is the id of the message that wrote something last. */
export interface State {
  /** Objects with an id of the device's choosing: id → version and mark. */
  readonly objects: Readonly<Record<string, { readonly version: number; readonly mark: string }>>;
  /** Marks of the objects that got their id from the service, one each. */
  readonly anonymous: readonly string[];
  /** `<object> <target>` → mark. */
  readonly references: Readonly<Record<string, string>>;
  /** Type version → mark. */
  readonly types: Readonly<Record<string, string>>;
  /** Names of the identities that are connected through the device. */
  readonly connected: readonly string[];
  readonly identity: string | undefined;
}

/** Everything that was seen of a run from outside the service, but for `handled` and `parked`. */
export interface History {
  /** Of each device, in the order of the hub. */
  readonly sent: readonly Sent[];
  /** Names of the identities that are connected through each device in the beginning. */
  readonly connected: readonly string[];
  /** Messages that were begun before a failover, and again when the hub was back: others can come in between. */
  readonly parted?: ReadonlySet<string>;
  /** In the order in which the calls arrived. */
  readonly effects: readonly Effect[];
  readonly told: readonly Told[];
  /** In the order of the logs; more than once where a message was handled again. */
  readonly handled: readonly Handled[];
  /** Message → how often its handling had come so far as to call a backend. */
  readonly begun: ReadonlyMap<string, number>;
  /**
   * Messages that a fault of a backend has met, or whose time ran out while faults kept a backend out: these may fail
   * through no fault of their own.
   */
  readonly struck: ReadonlySet<string>;
  /** Messages of which the hub has refused a reply, or has left one unanswered. */
  readonly refused: ReadonlySet<string>;
  readonly parked: ReadonlySet<string>;
  /** Messages that the service says it has parked without executing them. */
  readonly unexecuted: ReadonlySet<string>;
  readonly state: ReadonlyMap<string, State>;
  /** Partition → how many of its messages may have been handled again (G3); none where it has no entry. */
  readonly mostRepeats: ReadonlyMap<string, number>;
}
