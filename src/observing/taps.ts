/** The stages of a message, and of an invocation, in the order in which they usually come. */
export type Stage =
  | 'read'
  | 'invoked'
  | 'skipped'
  | 'gap'
  | 'waits'
  | 'begun'
  | 'decoded'
  | 'attempt'
  | 'sent'
  | 'answer'
  | 'reply waits'
  | 'refused'
  | 'reply'
  | 'parked'
  | 'handled'
  | 'left';

/** Names a message of the hub, or an invocation. */
export type MessageRef =
  | { readonly partition: string; readonly sequenceNumber: number }
  | { readonly correlationId: string };

/** One stage of one message or invocation. Values are texts, numbers and plain objects. */
export interface TapEvent extends Readonly<Record<string, unknown>> {
  /** In ISO 8601. */
  readonly time: string;
  readonly stage: Stage;
  readonly device: string;
}

/**
 * Publishes a stage of one message or invocation to the followers of its device. Only followers that asked for `bodies` get
 * them.
 * @param token of the call: a backend may repeat it in its answer
 */
export type Publish = (stage: Stage, fields: object, bodies?: Bodies, token?: string) => void;

/** Texts or bytes, as they were received or sent. */
export type Bodies = Readonly<Record<string, string | Uint8Array | undefined>>;

/** A follower of a device. */
export interface Follower {
  readonly device: string;
  follow(event: TapEvent, bodies: Bodies | undefined, token: string | undefined): void;
}

/** Each follower slows its device down. */
const most = 4;

export type Taps = ReturnType<typeof createTaps>;

/** The followers of devices. */
export function createTaps() {
  const followers = new Set<Follower>();

  const publishTo =
    (some: readonly Follower[], place: MessageRef): Publish =>
    (stage, fields, bodies, token) => {
      const time = new Date().toISOString();
      for (const one of some) {
        if (!followers.has(one)) continue;
        try {
          one.follow({ time, stage, device: one.device, ...place, ...fields }, bodies, token);
        } catch {
          followers.delete(one); // a defect there ends the following, not the message
        }
      }
    };

  return {
    /** Undefined while the device has no follower, which costs next to nothing. */
    of(device: string, place: MessageRef): Publish | undefined {
      if (followers.size === 0) return undefined;
      const own = [...followers].filter((one) => one.device === device);
      return own.length === 0 ? undefined : publishTo(own, place);
    },
    /** The same for an event of a whole partition, whose device is not known: all followers get it. */
    all: (place: MessageRef): Publish | undefined =>
      followers.size === 0 ? undefined : publishTo([...followers], place),
    /** @returns undefined when too many follow already; else a function that ends it */
    open(follower: Follower): (() => void) | undefined {
      if (followers.size >= most) return undefined;
      followers.add(follower);
      return () => followers.delete(follower);
    },
  };
}
