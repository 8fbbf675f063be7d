import type { Generation } from '../../../src/protocol/event.ts';
import type { ScriptedCall } from '../../support/scriptedBackend.ts';
import type { Row } from './row.ts';

export type Fields = Readonly<Record<string, unknown>>;

export interface Sample {
  /** Those of an event name the object and its model, so that a refused request can repeat them. */
  readonly properties?: Readonly<Record<string, string>>;
  readonly body: object;
  readonly backend: readonly ScriptedCall[];
  /** The calls without which it does not succeed; all of them unless told otherwise. */
  readonly decisive?: readonly ScriptedCall[];
  readonly notifications?: NonNullable<Row['notifications']>;
  readonly ack: Fields;
  /** Properties of the acknowledgement of a success and of a failure, beside those that every one has. */
  readonly ackProperties?: Fields;
  readonly failureProperties?: Fields;
  readonly failed: (code: string, details: unknown) => Fields;
  /** What it holds besides when the body could be read. */
  readonly readBody?: Fields;
  readonly readProperties?: Fields;
}

const profiles = {
  V2: {
    ...{ kind: 'action', id: 'correlationId', invalid: 'validation_error' },
    ...{ typed: { version: '2', timeout: 900, ack: 'FULL' }, echoed: {} },
    meaningless: { timeout: 5, 'svc-messagetype': 'platformEvent', colour: 'red' },
  },
  V1: {
    ...{ kind: 'event', id: 'id', invalid: 'platform_event_validation_error', typed: { id: 7, ack: 'FULL' } },
    echoed: { id: '7' },
    meaningless: { timeout: 'soon', correlationId: 'c-2', version: 7, timestamp: 'x' },
  },
} as const;

/** The sample as a row that succeeds, and what can be made of it. */
export function variationsOf(generation: Generation, sample: Sample) {
  const { properties = {}, body, backend, notifications = [], ack, ackProperties = {}, failed } = sample;
  const profile = profiles[generation];
  const success = { properties, body, backend, notifications, ack, ackProperties };
  const failure = (given: Fields, details: string, code: string = profile.invalid) => ({
    properties: { ...properties, ...given },
    body,
    ack: failed(code, details),
    ackProperties: sample.failureProperties ?? {},
  });
  const malformed = { ...failure({}, 'body is not well-formed JSON, it ends too early'), body: '{' };

  /** The row with other properties, which its replies repeat as `echoed`. */
  const having = <R extends Pick<Row, 'ackProperties' | 'notifications'>>(
    row: R,
    given: Fields,
    echoed: Readonly<Record<string, string | undefined>> = {},
  ) => ({
    ...row,
    properties: { ...properties, ...given },
    ackProperties: { ...row.ackProperties, ...echoed },
    notifications: (row.notifications ?? []).map((one) => ({ ...one, properties: { ...one.properties, ...echoed } })),
  });
  return { ...profile, success, failure, malformed, having };
}

export type Variations = ReturnType<typeof variationsOf>;
