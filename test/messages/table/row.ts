import { expect } from 'vitest';
import type { CardLimits } from '../../../src/card/card.ts';
import type { Delivery } from '../../../src/protocol/vocabulary.ts';
import type { Script } from '../../support/scriptedBackend.ts';

/** One message, what the backends are asked, and everything the devices get. */
export interface Row {
  /** A sentence of the specification. */
  readonly it: string;
  /** Properties beside or instead of those of every message; undefined takes one away. */
  readonly properties?: Readonly<Record<string, unknown>>;
  /** Text and bytes go out as they are, anything else as JSON. */
  readonly body?: unknown;
  /** The device that sends; `d1` unless told otherwise. */
  readonly device?: string;
  /** Exactly these calls, in this order. */
  readonly backend?: Script;
  /** What becomes of each reply, in order; of those not named, the hub refuses only what is too large. */
  readonly delivery?: readonly Delivery[];
  /** The message comes from a time when another instance may have handled it. */
  readonly redelivered?: boolean;
  /** Instead of the settings' defaults. */
  readonly limits?: Partial<CardLimits>;
  /** Body of the acknowledgement, decompressed if it says that it is `gzip`; undefined when there must be none. */
  readonly ack: Readonly<Record<string, unknown>> | undefined;
  /** Text that the acknowledgement's body has, character by character. */
  readonly ackText?: string;
  /** Properties of the acknowledgement beside or instead of those of every acknowledgement. */
  readonly ackProperties?: Readonly<Record<string, unknown>>;
  /** Before the acknowledgement, in this order. Text is compared character by character. */
  readonly notifications?: readonly {
    device?: string;
    properties: Readonly<Record<string, string | undefined>>;
    body: unknown;
  }[];
  /** What the log line of the message says, among other things. */
  readonly log?: Readonly<Record<string, unknown>>;
}

export const row = (
  it: string,
  given: Pick<Row, 'body'> & Partial<Row>,
  ack: Row['ack'],
  backend: Script = [],
): Row => ({ it, ...given, ack, backend });

/** What a device is told of a fault that is not its own. */
export const incident = expect.stringMatching(/^internal error, incident [0-9a-f-]{36}$/);

/** What is said of what another may do, but not this device. */
export const forbidden = (words: string): string => `${words} failed with HTTP 403: Forbidden: as it is`;

/** What the information model says of one related model. */
export const related = (model: string, more: object = {}) => ({
  ...{ model, success: true, code: 'ok', details: '', created: true },
  ...more,
});

export const unrelated = (model: string, code: string, details: string) =>
  related(model, { success: false, code, details, created: false });

/** What devices are told of related models: not which of them were created. */
export const toldOf = (relatedModels: readonly ReturnType<typeof related>[]) =>
  relatedModels.map(({ created: _, ...one }) => one);

/** A body in which a key is written twice, with the other members. */
export function writtenTwice(key: string, value: unknown, others: object = {}): string {
  const once = JSON.stringify({ ...others, [key]: value });
  return `${once.slice(0, -1)},${JSON.stringify(key)}:${JSON.stringify(value)}}`;
}
