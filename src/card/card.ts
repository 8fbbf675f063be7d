import type { z } from 'zod';
import type { BackendName, BoundBackends } from '../backends/backends.ts';
import type { Envelope } from '../protocol/envelope.ts';
import type { Generation } from '../protocol/event.ts';
import type { Json } from '../protocol/json.ts';
import { type Keys, keysOf } from '../protocol/jsonKeys.ts';
import type { Notification } from '../protocol/notification.ts';
import type { Properties } from '../protocol/properties.ts';
import type { Rejection } from '../protocol/rejection.ts';

/** A message whose properties and body have passed the card's checks. */
export interface Request<Headers = unknown, Body = unknown> {
  readonly envelope: Envelope;
  readonly headers: Headers;
  /** The body as it arrived. */
  readonly json: Json;
  /** What the card's body schema made of it. */
  readonly body: Body;
  /** It may have been handled before, by an instance that did not come to write that down (G3). */
  readonly redelivered: boolean;
}

type Fields = Readonly<Record<string, unknown>>;

/** What there is to say after a message has been handled. */
export interface Outcome<F extends Fields = Fields> {
  /** Acknowledgement body beyond `success`, `code` and `details`. */
  readonly fields: F;
  /** Acknowledgement properties beyond the generation's own. */
  readonly properties: Readonly<Record<string, string>>;
  /** In the order in which they are sent, before the acknowledgement (A12). */
  readonly notifications: readonly Notification[];
  /** The notifications are the point of the request: it fails when one cannot be delivered (C3, C4). */
  readonly mustDeliver: boolean;
  /** The request failed although there is something to notify (A9). */
  readonly failure: Rejection | undefined;
  /** What an operator should know beside the result, for the log line. */
  readonly remarks: readonly string[];
}

/** What an acknowledgement repeats of the request. */
export interface Echo {
  readonly fields?: Fields;
  readonly properties?: Readonly<Record<string, string>>;
}

/**
 * What an acknowledgement holds beyond the three common fields of its body and the properties of its generation. It is a
 * contract: types and documents follow from it, nothing is parsed with it.
 */
interface Acknowledged<F extends z.ZodRawShape = z.ZodRawShape> {
  readonly fields?: F;
  readonly properties?: z.ZodRawShape;
}

/** Bounds on what one message may set in motion; settings. */
export interface CardLimits {
  /** Updates that close the gap between a request's version and the stored one (A4). */
  readonly maxVersionGap: number;
  /** Object models that one SyncModel fetches, and their size in bytes (A10). */
  readonly maxSyncModels: number;
  readonly maxSyncBytes: number;
}

/**
 * A *card* is one message of the interface: what its properties and body must look like, which backends it needs, and
 * what it does. It returns what to say; it never sends, logs or checkpoints.
 */
export interface Card {
  readonly name: string;
  readonly generation: Generation;
  /** What a device wants with it, as an order: documents are written from it. */
  readonly purpose: string;
  readonly headers: z.ZodObject;
  /** Checks on the body; most actions leave them to the backend. */
  readonly body: z.ZodObject | undefined;
  /** Largest body after decompression, in bytes. */
  readonly maxBodyBytes: number;
  /** Dotted paths of the body's keys that the service itself reads: none may occur twice (R5). */
  readonly reads: readonly string[];
  /** The same, prepared: those of the outermost object, and those of objects that are its members. */
  readonly keys: { readonly outermost: Keys; readonly nested: ReadonlyMap<string, Keys> };
  /** Backends without which the message is not started (B5). */
  readonly needs: readonly BackendName[];
  /** The backend operation that gets the body, by the id in its contract. Documents follow from it, nothing is called. */
  readonly forwardedTo: readonly [BackendName, operationId: string] | undefined;
  /** spec: identity.delete uses the key "detail" */
  readonly detailsKey: 'details' | 'detail';
  readonly acknowledged: { readonly success: Acknowledged; readonly failure: Acknowledged };
  /**
   * What the acknowledgement of a failure repeats.
   * @param body the members that the schema knows, as far as they could be read
   * @param json the whole body, when it could be read
   */
  echo(properties: Properties, body: unknown, json: Json | undefined): Echo;
  handle(request: Request, backends: BoundBackends, limits: CardLimits): Promise<Outcome>;
}

interface Definition<H extends z.ZodObject, B extends z.ZodObject, F extends z.ZodRawShape>
  extends Partial<Pick<Card, 'maxBodyBytes' | 'reads' | 'forwardedTo' | 'detailsKey' | 'echo'>>,
    Pick<Card, 'purpose' | 'needs'> {
  readonly headers: H;
  readonly body?: B;
  readonly acknowledged?: { readonly success?: Acknowledged<F>; readonly failure?: Acknowledged };
  handle(
    request: Request<z.infer<H>, z.infer<B>>,
    backends: BoundBackends,
    limits: CardLimits,
  ): Promise<Outcome<z.infer<z.ZodObject<NoInfer<F>>>>>;
}

/** A card for a V2 action. */
export const action = <H extends z.ZodObject, B extends z.ZodObject, F extends z.ZodRawShape = Record<never, never>>(
  name: string,
  definition: Definition<H, B, F>,
): Card => card('V2', name, definition);

/** A card for a V1 platform event. */
export const event = <H extends z.ZodObject, B extends z.ZodObject, F extends z.ZodRawShape = Record<never, never>>(
  name: string,
  definition: Definition<H, B, F>,
): Card => card('V1', name, definition);

function card<H extends z.ZodObject, B extends z.ZodObject, F extends z.ZodRawShape>(
  generation: Generation,
  name: string,
  { handle, acknowledged, reads = [], ...definition }: Definition<H, B, F>,
): Card {
  return {
    body: undefined,
    forwardedTo: undefined,
    maxBodyBytes: Number.POSITIVE_INFINITY,
    detailsKey: 'details',
    echo: () => ({}),
    ...definition,
    acknowledged: { success: {}, failure: {}, ...acknowledged },
    reads,
    keys: keysRead(reads),
    generation,
    name,
    handle: (request, backends, limits) => handle(request as Request<z.infer<H>, z.infer<B>>, backends, limits),
  };
}

function keysRead(paths: readonly string[]): Card['keys'] {
  const nested = new Map<string, string[]>();
  for (const [outer = '', inner] of paths.map((path) => path.split('.'))) {
    if (inner !== undefined) nested.set(outer, [...(nested.get(outer) ?? []), inner]);
  }
  return {
    outermost: keysOf(paths.map((path) => path.split('.')[0] ?? '')),
    nested: new Map(Array.from(nested, ([outer, inner]) => [outer, keysOf(inner)])),
  };
}

/** The outcome of a request that has come to its end. */
export const done = <F extends Fields>(
  fields: F,
  {
    properties = {},
    notifications = [],
    mustDeliver = false,
    failure,
    remarks = [],
  }: Partial<Omit<Outcome, 'fields'>> = {},
): Outcome<F> => ({ fields, properties, notifications, mustDeliver, failure, remarks });
