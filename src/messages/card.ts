import type { z } from 'zod';
import type { BackendName, BoundBackends } from '../backends/backends.ts';
import type { Envelope } from '../protocol/envelope.ts';
import type { Generation } from '../protocol/event.ts';
import type { Json } from '../protocol/json.ts';
import type { Notification } from '../protocol/notification.ts';
import type { Rejection } from '../rejection.ts';

/** A message whose properties and body have passed the card's checks. */
export interface Request<Headers = unknown, Body = unknown> {
  readonly envelope: Envelope;
  readonly headers: Headers;
  /** The body as it arrived. */
  readonly json: Json;
  /** What the card's body schema made of it. */
  readonly body: Body;
}

/** What there is to say after a message has been handled. */
export interface Outcome {
  /** Acknowledgement body beyond `success`, `code` and `details`. */
  readonly fields: Readonly<Record<string, unknown>>;
  /** Acknowledgement properties beyond the generation's own. */
  readonly properties: Readonly<Record<string, string>>;
  /** In the order in which they are sent, before the acknowledgement (A12). */
  readonly notifications: readonly Notification[];
  /** The request failed although there is something to notify (A9). */
  readonly failure: Rejection | undefined;
}

/**
 * A *card* is one message of the interface: what its properties and body must look like, which backends it needs, and
 * what it does. It returns what to say; it never sends, logs or checkpoints.
 */
export interface Card {
  readonly name: string;
  readonly generation: Generation;
  readonly headers: z.ZodType;
  /** Checks on the body; most actions leave them to the backend. */
  readonly body: z.ZodType | undefined;
  /** Dotted paths of the body's keys that the service itself reads: none may occur twice (R5). */
  readonly reads: readonly string[];
  /** Backends without which the message is not started (B5). */
  readonly needs: readonly BackendName[];
  /** Body fields that a failed acknowledgement has as well. */
  readonly failureFields: Readonly<Record<string, unknown>>;
  readonly detailsKey: 'details' | 'detail';
  handle(request: Request, backends: BoundBackends): Promise<Outcome>;
}

interface Definition<H extends z.ZodType, B extends z.ZodType> {
  readonly headers: H;
  readonly body?: B;
  readonly reads?: readonly string[];
  readonly needs: readonly BackendName[];
  readonly failureFields?: Readonly<Record<string, unknown>>;
  readonly detailsKey?: 'details' | 'detail';
  handle(request: Request<z.infer<H>, z.infer<B>>, backends: BoundBackends): Promise<Outcome>;
}

/** A card for a V2 action. */
export const action = <H extends z.ZodType, B extends z.ZodType>(name: string, definition: Definition<H, B>): Card =>
  card('V2', name, definition);

function card<H extends z.ZodType, B extends z.ZodType>(
  generation: Generation,
  name: string,
  { headers, body, reads = [], needs, failureFields = {}, detailsKey = 'details', handle }: Definition<H, B>,
): Card {
  return {
    generation,
    name,
    headers,
    body,
    reads,
    needs,
    failureFields,
    detailsKey,
    handle: (request, backends) => handle(request as Request<z.infer<H>, z.infer<B>>, backends),
  };
}

/** The outcome of a request that succeeded. */
export const done = (
  fields: Outcome['fields'] = {},
  { properties = {}, notifications = [], failure }: Partial<Omit<Outcome, 'fields'>> = {},
): Outcome => ({ fields, properties, notifications, failure });
