import type { FaultRequest } from '../backends/calls/faults.ts';
import type { Pattern } from './pattern.ts';

/**
 * The examples of one message: what devices send, and the replies. The wire is spelled by hand here: with the service's own
 * code, an error in it would cancel itself out.
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
  readonly exchanges: readonly StoryExchange[];
  /** What another device tries, to reach data that is not its own. */
  attempts(target: Target): readonly Attempt[];
  /** What `npm run acceptance` sends, after the messages before it. */
  live(world: LiveWorld): LiveExchange;
}

interface StoryMessage {
  /** A sentence about what happens. */
  readonly title: string;
  /** `pump-1` unless given. */
  readonly device?: string;
  /** `correlationId` or `id`. */
  readonly id: string;
  /** Application properties beyond those that every message of its generation has, or in their place. */
  readonly properties?: Readonly<Record<string, string>>;
}

export interface Example extends StoryMessage {
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

export interface StoryExchange extends StoryMessage {
  /** The story's message unless given. */
  readonly message?: string;
  /** A property that is left out. */
  readonly without?: string;
  /** Text is sent as it is, anything else as JSON. */
  readonly body: unknown;
  /** Succeeds, and only prepares the other exchanges: the transcript has the message and not its replies. */
  readonly isPreparation?: boolean;
  /** Sends the body as base64 of gzip. */
  readonly isCompressed?: boolean;
  /** The backends are only read, and some reads happen at the same time: the transcript has them in the order of their text. */
  readonly hasConcurrentReads?: boolean;
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

type AddressAttempt = Required<Pick<Attempt, 'what' | 'properties'>>;

/** The victim of the attempts, and what an attacker could send to reach its data. */
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
  readonly addresses: readonly AddressAttempt[];
  /** Those of the addresses with an invalid object id or model. */
  readonly hostileAddresses: readonly AddressAttempt[];
  /** Registrations of what is its own, and of a sensor for an owner that could be its identity. */
  readonly registrations: readonly Attempt[];
  readonly owners: readonly Attempt[];
  /** Bodies with an `identity`, below a `parent`, that could be its own. */
  readonly identities: readonly (Attempt & { readonly body: { readonly identity: string } })[];
}

/** What the acceptance run knows when it sends a message: objects of a type of its own, which it makes on the way. */
export interface LiveWorld {
  /** Of the run: begins all ids, serial numbers and names. It is the type of its objects, and the name of no identity. */
  readonly run: string;
  readonly first: LiveObject;
  readonly second: LiveObject;
  /** The second one after its updates. */
  readonly moved: LiveObject;
  readonly rebuilt: LiveObject;
}

export interface LiveObject {
  readonly objectId: string;
  readonly model: 'svc.device';
  readonly type: string;
  readonly properties: Readonly<Record<string, string>>;
  /** The device. */
  readonly path: string;
}

/** A message for a deployment that runs, and what must come back, in this order. */
export interface LiveExchange {
  readonly title: string;
  readonly properties?: Readonly<Record<string, string>>;
  readonly body: object;
  readonly replies: readonly ((message: string, id: string) => LiveReply)[];
}

export interface LiveReply {
  readonly what: string;
  readonly properties: Readonly<Record<string, Pattern>>;
  /** An object model may have more than this; an acknowledgement may not. */
  readonly body: { readonly [key: string]: Pattern };
  readonly isModel: boolean;
}
