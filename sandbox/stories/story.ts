import type { FaultRequest } from '../backends/calls/faults.ts';

/**
 * All that shows or tries one message: what devices send, and what comes back. The wire is spelled by hand here: an error
 * in the service's own code would cancel itself out.
 */
export interface Story {
  /** The name on the wire. */
  readonly message: string;
  /**
   * What the demonstration, docs/devices.md and `npm run device` send. It succeeds in a new sandbox after the examples of
   * the stories before it.
   */
  readonly example: Example;
  /**
   * What the end-to-end transcript has, in order, beginning with the example world. Texts may name what came up before as
   * the transcript does: `<objectId 1>`, `<identity gateway-1/edge>`.
   * What calls no backend is for the table of the card to show; one such exchange of each generation stands here.
   */
  readonly exchanges: readonly Said[];
  /** What another device tries, to get at what is not its own. */
  attempts(target: Target): readonly Attempt[];
}

interface Sent {
  /** A sentence about what happens. */
  readonly title: string;
  /** `pump-1` unless given. */
  readonly device?: string;
  /** `correlationId` or `id`. */
  readonly id: string;
  /** Application properties beyond those that every message of its generation has, or in their place. */
  readonly properties?: Readonly<Record<string, string>>;
}

export interface Example extends Sent {
  readonly body: string;
  /** In this order. */
  readonly replies: readonly Reply[];
}

export interface Reply {
  readonly what: string;
  readonly properties: Readonly<Record<string, string>>;
  readonly body: Json;
}

export type Json = string | number | boolean | null | readonly Json[] | { readonly [key: string]: Json };

export interface Said extends Sent {
  /** The story's message unless given. */
  readonly message?: string;
  /** A property that is left out. */
  readonly without?: string;
  /** Text is sent as it is, anything else as JSON. */
  readonly body: unknown;
  /** Succeeds, and only prepares what the story is about: the transcript has what is sent, and no more. */
  readonly prepares?: boolean;
  /** Sends the body as base64 of gzip. */
  readonly isCompressed?: boolean;
  /** The backends are only read, and some reads happen at the same time: the transcript has them in the order of their text. */
  readonly readsTogether?: boolean;
  /** Strikes a backend while the message is handled. */
  readonly fault?: FaultRequest;
}

export interface Attempt {
  /** What is special about it. */
  readonly what: string;
  readonly properties?: Readonly<Record<string, string>>;
  readonly body: unknown;
  /** It succeeds, because it then is about something of the sender's own. */
  readonly isHarmless?: boolean;
  /** Who tries: a device of the victim's tenant, or of another one. Both, unless given. */
  readonly from?: 'same tenant' | 'other tenant';
}

type Place = Required<Pick<Attempt, 'what' | 'properties'>>;

/** Whom attempts are aimed at, and the ways that could lead there. */
export interface Target {
  /** An object of the sender's own, of type `pump`. */
  readonly ownId: string;
  readonly deviceId: string;
  /** The principal of the device. */
  readonly principalId: string;
  /** An object with a configuration, and its child. */
  readonly objectId: string;
  readonly childId: string;
  /** A type of its tenant. */
  readonly typeId: string;
  /** Bodies: its object by the serial number, a sensor, the sender's own object. */
  readonly gateway: object;
  readonly sensor: object;
  readonly pump: object;
  /** Object ids and models that are none. */
  readonly objectIds: readonly string[];
  readonly models: readonly string[];
  /** Its models, and `objectId` and `model` that could lead to them. */
  readonly places: readonly Place[];
  /** Those of the places that are no object id or no model. */
  readonly hostilePlaces: readonly Place[];
  /** Registrations of what is its own, and of a sensor for an owner that could be its identity. */
  readonly registrations: readonly Attempt[];
  readonly owners: readonly Attempt[];
  /** Bodies with an `identity`, below a `parent`, that could be its own. */
  readonly identities: readonly (Attempt & { readonly body: { readonly identity: string } })[];
}
