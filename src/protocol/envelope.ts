import { z } from 'zod';
import type { Generation, Properties } from './event.ts';
import { derivedId, maxPropertyBytes, own, propertyBytes, textlessFaults, textProperties } from './event.ts';
import { faultsOf, target, text } from './fields.ts';
import { listed, Rejection } from './rejection.ts';
import type { FailureCode } from './vocabulary.ts';

/** When the device wants an acknowledgement (P1). */
export type Ack = 'none' | 'positive' | 'negative' | 'all';

/** What the reply to a message needs; readable also from a rejected message. */
export interface Envelope {
  readonly generation: Generation;
  /** The directly connected device, as stamped by the hub. */
  readonly deviceId: string;
  /** Derived id of the event (A2). */
  readonly eventId: string;
  /** How often the message has been parked; 0 when it comes from the hub. */
  readonly attempts: number;
  /** `action` (V2) or `eventType` (V1) as sent; undefined when missing. */
  readonly name: string | undefined;
  readonly ack: Ack;
  /** `correlationId` (V2) or `id` (V1, generated when absent). */
  readonly correlationId: string | undefined;
  readonly target: string;
  /** Time limit for handling the message (P2). */
  readonly timeoutSeconds: number;
  readonly properties: Properties;
}

export type EnvelopeLimits = { readonly defaultTimeoutSeconds: number };

const timeout = z.string().regex(/^([1-9]\d?|[1-8]\d\d|900)$/, 'must be whole seconds from 1 to 900');

/*
 * V2:  msgType = action   action   version = 2   correlationId   [ack] [target] [timeout] [content-encoding]
 * V1:  svc-messagetype = platformEvent   eventType   [id] [ack] [target]
 */
/** `common`: the schema of the common properties, without `ack`. */
export const grammars = {
  V2: {
    name: 'action',
    correlationId: 'correlationId',
    invalid: 'validation_error',
    common: z.object({
      action: text,
      version: z.literal('2', { error: ({ input }) => (input === undefined ? 'is required' : 'must be 2') }),
      correlationId: text,
      target: target.optional(),
      timeout: timeout.optional(),
    }),
  },
  V1: {
    name: 'eventType',
    correlationId: 'id',
    invalid: 'platform_event_validation_error',
    common: z.object({ eventType: text, target: target.optional() }),
  },
} as const;

/** `action` (V2) or `eventType` (V1) of an unchecked message; empty when it is missing or no text. */
export function messageNameOf(generation: Generation, properties: Readonly<Record<string, unknown>>): string {
  const value = own(properties, grammars[generation].name);
  return typeof value === 'string' ? value : '';
}

/** The code for validation failures of a generation (result codes). */
export const invalid = (generation: Generation): FailureCode => grammars[generation].invalid;

/** By the values of `ack`, case-insensitive (P1). */
export const acks: ReadonlyMap<string, Ack> = new Map([
  ['', 'none'],
  ...(['none', 'positive', 'negative', 'all'] as const).map((ack) => [ack, ack] as const),
  ['full', 'all'],
]);

/** The same for each delivery of the event (C1), another for each replay by an operator. @param about distinguishes the replies to one request */
export const messageId = ({ eventId, attempts }: Envelope, about: string): string =>
  derivedId(eventId, attempts === 0 ? `reply ${about}` : `reply ${about} of replay ${attempts}`);

/** Whether a result is to be acknowledged (P1). */
export const wantsAck = (ack: Ack, success: boolean): boolean =>
  ack === 'all' || ack === (success ? 'positive' : 'negative');

/** Reads envelopes. `refusal` is that of the first failing stage of R9. */
export function createEnvelopeReader({ defaultTimeoutSeconds }: EnvelopeLimits) {
  return function readEnvelope(
    generation: Generation,
    given: Readonly<Record<string, unknown>>,
    deviceId: string,
    eventId: string,
    attempts = 0,
  ): { envelope: Envelope; refusal: Rejection | undefined } {
    const grammar = grammars[generation];
    const properties = textProperties(given);
    const textless = textlessFaults(given);
    const ack = textless.has('ack') ? undefined : acks.get((properties['ack'] ?? '').toLowerCase());
    const checked = grammar.common.safeParse(properties);
    const seconds = generation === 'V2' && checked.success ? properties['timeout'] : undefined;
    const correlationId = properties[grammar.correlationId] || undefined;

    const envelope: Envelope = {
      generation,
      deviceId,
      eventId,
      attempts,
      name: properties[grammar.name] || undefined,
      ack: ack ?? 'all',
      correlationId: correlationId ?? (generation === 'V1' ? derivedId(eventId, 'correlation') : undefined),
      target: properties['target'] ?? '',
      timeoutSeconds: seconds === undefined ? defaultTimeoutSeconds : Number(seconds),
      properties,
    };

    let refusal: Rejection | undefined;
    if (propertyBytes(properties) > maxPropertyBytes) {
      refusal = new Rejection(
        'platform_event_validation_error',
        `the message properties exceed the 32 kB header limit (${maxPropertyBytes} bytes of names and values)`,
      );
    } else if (ack === undefined) {
      const unknown = 'property ack must be none, positive, negative or all';
      refusal = new Rejection(grammar.invalid, textless.get('ack') ?? unknown);
    } else if (!checked.success || textless.size > 0) {
      const issues = checked.error?.issues.filter(({ path: [name] }) => !textless.has(String(name))) ?? [];
      refusal = new Rejection(grammar.invalid, listed([...textless.values(), ...faultsOf({ issues }, 'property')]));
    }
    return { envelope, refusal };
  };
}
