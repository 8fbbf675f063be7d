import type { z } from 'zod';
import type { BackendName, BoundBackends } from '../backends/backends.ts';
import type { KeepingRoom } from '../backends/sending.ts';
import type { Envelope } from '../protocol/envelope.ts';
import type { Generation, Properties } from '../protocol/event.ts';
import { type Json, type Keys, keysOf } from '../protocol/json.ts';
import type { Rejection } from '../protocol/rejection.ts';
import type { Notification } from '../protocol/reply.ts';
import type { MessageLimits } from '../settings/constants.ts';

export interface Request<Headers = unknown, Body = unknown> {
  readonly envelope: Envelope;
  readonly headers: Headers;
  readonly json: Json;
  /** The result of the card's body schema. */
  readonly body: Body;
  /** It may have been handled before, by an instance that stopped before the checkpoint (G3). */
  readonly redelivered: boolean;
  readonly room: KeepingRoom;
}

type Fields = Readonly<Record<string, unknown>>;

export interface Outcome<F extends Fields = Fields> {
  /** Acknowledgement body beyond `success`, `code` and `details`. */
  readonly fields: F;
  /** Acknowledgement properties beyond the generation's own. */
  readonly properties: Readonly<Record<string, string>>;
  /** Sent in this order, before the acknowledgement (A12). Each is taken out when it is sent: they may be large. */
  readonly notifications: Notification[];
  /** The request fails when a notification cannot be delivered (C3, C4). */
  readonly mustDeliver: boolean;
  /** Set when the request failed; its notifications are sent nevertheless (A9). */
  readonly failure: Rejection | undefined;
  /** Further information for operators, for the log line. */
  readonly remarks: readonly string[];
}

type Echo = { readonly fields?: Fields; readonly properties?: Readonly<Record<string, string>> };

/** The fields and properties of an acknowledgement beyond the common ones. Types and documents are derived from it; nothing is parsed with it. */
interface Acknowledged<F extends z.ZodRawShape = z.ZodRawShape> {
  readonly fields?: F;
  readonly properties?: z.ZodRawShape;
}

export type CardLimits = Omit<MessageLimits, 'defaultTimeoutSeconds' | 'maxInflatedBytes'>;

/**
 * A *card* describes one message of the interface: the form of its properties and body, the backends it needs, and its
 * handler. The handler returns an outcome; it never sends, logs or checkpoints.
 */
export interface Card {
  readonly name: string;
  readonly generation: Generation;
  /** The purpose as an imperative sentence; documents contain it. */
  readonly purpose: string;
  readonly headers: z.ZodObject;
  /** Schema of the body; for most actions only the backend checks it. */
  readonly body: z.ZodObject | undefined;
  /** Largest body after decompression, in bytes. */
  readonly maxBodyBytes: number;
  /** Dotted paths of the keys that the service reads from the body; none may occur twice (R5). */
  readonly reads: readonly string[];
  /** The same keys, prepared for reading: those of the outermost object, and those of its members. */
  readonly keys: { readonly outermost: Keys; readonly nested: ReadonlyMap<string, Keys> };
  /** Backends without which the message is not started (B5). */
  readonly needs: readonly BackendName[];
  /** Bytes of their answers that it may keep until its replies have been handed over; they are reserved before it is started (R6). */
  readonly keeps: number;
  /** Id of the backend operation that receives the body, for documents only. */
  readonly forwardedTo: readonly [BackendName, operationId: string] | undefined;
  /** spec: identity.delete uses the key "detail" */
  readonly detailsKey: 'details' | 'detail';
  readonly acknowledged: { readonly success: Acknowledged; readonly failure: Acknowledged };
  /**
   * Faults that concern several members, of properties and body (R9).
   * @param body the members that have their shape
   * @param hasShape whether a member has it; an optional one also when it is absent
   */
  crossChecks(headers: unknown, body: unknown, hasShape: (name: string) => boolean): readonly string[];
  /**
   * Values of the request that the acknowledgement repeats, also after a failure.
   * @param body the members of the schema that could be read
   * @param json the whole body, if it could be read
   */
  echo(properties: Properties, body: unknown, json: Json | undefined): Echo;
  handle(request: Request, backends: BoundBackends, limits: CardLimits): Promise<Outcome>;
}

interface Definition<H extends z.ZodObject, B extends z.ZodObject, F extends z.ZodRawShape>
  extends Partial<Pick<Card, 'maxBodyBytes' | 'reads' | 'keeps' | 'forwardedTo' | 'detailsKey' | 'echo'>>,
    Pick<Card, 'purpose' | 'needs'> {
  readonly headers: H;
  readonly body?: B;
  readonly acknowledged?: { readonly success?: Acknowledged<F>; readonly failure?: Acknowledged };
  crossChecks?(headers: z.infer<H>, body: Partial<z.infer<B>>, hasShape: (name: string) => boolean): readonly string[];
  handle(
    request: Request<z.infer<H>, z.infer<B>>,
    backends: BoundBackends,
    limits: CardLimits,
  ): Promise<Outcome<z.infer<z.ZodObject<NoInfer<F>>>>>;
}

const cardsOf =
  (generation: Generation) =>
  <H extends z.ZodObject, B extends z.ZodObject, F extends z.ZodRawShape = Record<never, never>>(
    name: string,
    { acknowledged, reads = [], ...definition }: Definition<H, B, F>,
  ): Card => ({
    body: undefined,
    forwardedTo: undefined,
    maxBodyBytes: Number.POSITIVE_INFINITY,
    keeps: 0,
    detailsKey: 'details',
    crossChecks: () => [],
    echo: () => ({}),
    ...definition,
    acknowledged: { success: {}, failure: {}, ...acknowledged },
    reads,
    keys: keysRead(reads),
    generation,
    name,
  });

export const action = cardsOf('V2');
export const event = cardsOf('V1');

function keysRead(paths: readonly string[]): Card['keys'] {
  const nested = new Map<string, string[]>();
  for (const [outer = '', inner] of paths.map((path) => path.split('.')))
    if (inner !== undefined) nested.set(outer, [...(nested.get(outer) ?? []), inner]);
  return {
    outermost: keysOf(paths.map((path) => path.split('.')[0] ?? '')),
    nested: new Map(Array.from(nested, ([outer, inner]) => [outer, keysOf(inner)])),
  };
}

export function done<F extends Fields>(fields: F, more: Partial<Omit<Outcome, 'fields'>> = {}): Outcome<F> {
  return { fields, properties: {}, notifications: [], mustDeliver: false, failure: undefined, remarks: [], ...more };
}
