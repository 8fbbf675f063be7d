import { gzipSync } from 'node:zlib';
import { expect } from 'vitest';
import { headersOf } from './everyAction.ts';
import { hostileTargets, shown, strangeTargets, targetFault } from './hostileNames.ts';
import { type Row, requestProperties } from './messageTable.ts';
import type { ScriptedCall } from './scriptedBackend.ts';
import { derivedCorrelationId, problem } from './world.ts';

type Fields = Readonly<Record<string, unknown>>;

/** A request of one event that succeeds. */
interface Sample {
  readonly eventType: string;
  /** They name the object and its model, so that a refused request can repeat them. */
  readonly properties: Readonly<Record<string, string>>;
  readonly body: object;
  readonly backend: readonly ScriptedCall[];
  /** The calls without which it does not succeed; all of them unless told otherwise. */
  readonly decisive?: readonly ScriptedCall[];
  readonly notifications?: NonNullable<Row['notifications']>;
  readonly ack: Fields;
  /** Properties of the acknowledgement of a success and of a failure. */
  readonly ackProperties: Fields;
  readonly failureProperties: Fields;
  /** The acknowledgement of a failure. */
  readonly failed: (code: string, details: unknown) => Fields;
  /** What it holds besides when the body could be read. */
  readonly readBody?: Fields;
}

const invalid = 'platform_event_validation_error';

/** The rows that every table of a V1 event begins with: what the specification says of all of them. */
export function everyEvent(sample: Sample): Readonly<Record<string, readonly Row[]>> {
  const { eventType, properties, body, backend, decisive = backend, notifications = [], readBody } = sample;
  const { ack, ackProperties, failureProperties, failed } = sample;
  const text = JSON.stringify(body);
  const success = { properties, body, backend, notifications, ack, ackProperties };
  const failure = (given: Fields, details: string, code = invalid) => ({
    properties: { ...properties, ...given },
    body,
    ack: failed(code, details),
    ackProperties: failureProperties,
  });
  const malformed = { ...failure({}, 'body is not well-formed JSON, it ends too early'), body: '{' };

  /** The row with other properties, which its replies repeat as `echoed`. */
  const having = <R extends Pick<Row, 'ackProperties' | 'notifications'>>(
    row: R,
    given: Fields,
    echoed: Readonly<Record<string, string>> = {},
  ) => ({
    ...row,
    properties: { ...properties, ...given },
    ackProperties: { ...row.ackProperties, ...echoed },
    notifications: (row.notifications ?? []).map((one) => ({ ...one, properties: { ...one.properties, ...echoed } })),
  });
  const strange = { id: 'c\r\n1: %2f', target: 'edge/ü %2f/s' };

  const filler = (total: number) => {
    const taken = Object.entries({ ...requestProperties.V1(eventType), ...properties, x: '' });
    return 'x'.repeat(taken.reduce((left, [name, value]) => left - Buffer.byteLength(`${name}${value}`), total));
  };

  return {
    'acknowledgement, as of every event': [
      {
        ...having(success, { ack: undefined }),
        it: 'is not sent when the request does not ask for one',
        ack: undefined,
      },
      { ...having(success, { ack: 'positive' }), it: 'is sent for a success to who wants to hear of successes' },
      {
        ...having(success, { ack: 'negative' }),
        it: 'is not sent for a success to who wants to hear of failures',
        ack: undefined,
      },
      { ...having(malformed, { ack: 'Negative' }), it: 'is sent for a failure to who wants to hear of failures' },
      {
        ...having(malformed, { ack: 'positive' }),
        it: 'is not sent for a failure to who wants to hear of successes',
        ack: undefined,
      },
      {
        ...having(success, strange, strange),
        it: 'repeats id and target of the request, whatever characters they have',
      },
      { ...having(malformed, strange, strange), it: 'repeats id and target of a request that fails' },
      {
        ...having(success, { target: undefined }, { target: '' }),
        it: 'has an empty target when the request has none',
      },
      ...[undefined, ''].map((id) => ({
        ...having(success, { id }, { id: derivedCorrelationId }),
        it: `has a generated id when the id of the request is ${id === '' ? 'empty' : 'missing'}, the same as everything else has`,
        backend: backend.map((one) => ({
          ...one,
          headers: { ...one.headers, 'x-correlation-id': derivedCorrelationId },
        })),
      })),
      {
        ...having(malformed, { id: undefined }, { id: derivedCorrelationId }),
        it: 'has a generated id also when the request fails',
      },
      {
        ...having(success, {
          ...{ correlationId: 'c-2', version: 7, timeout: 'soon', timestamp: 'x', context: 'c', 'iothub-ack': 'full' },
        }),
        it: 'repeats no property of the request that the specification does not name, and those of V2 mean nothing',
      },
      {
        ...success,
        it: 'that cannot be delivered leaves the message completed and its result in the log',
        delivery: [...notifications.map(() => 'delivered' as const), { dropped: 'unknown_device' }],
        log: { code: 'ok', dropped: [{ kind: 'acknowledgement', device: 'd1', reason: 'unknown_device' }] },
      },
      {
        ...malformed,
        it: 'of a failure that cannot be delivered leaves the message completed and its error in the log',
        delivery: [{ dropped: 'queue_full' }],
        log: { code: invalid, details: expect.any(String), dropped: [{ reason: 'queue_full' }] },
      },
    ],
    'properties, as of every event': [
      { ...having(success, { x: filler(32_768) }), it: 'may take 32,768 bytes' },
      {
        ...failure(
          { x: filler(32_769) },
          'the message properties exceed the 32 kB header limit (32768 bytes of names and values)',
        ),
        it: 'are refused at one byte more',
      },
      {
        ...failure({ ack: 'sometimes' }, 'property ack must be none, positive, negative or all'),
        it: 'must have an ack that is known; another counts as all',
      },
      ...strangeTargets.map((target) => ({
        ...having(success, { target }, { target }),
        it: `may have any target, which comes back unchanged: ${target}`,
      })),
      ...hostileTargets.map((target) => ({
        ...having(failure({}, `property target ${targetFault}`), { target }, { target }),
        it: `must have a target without control characters: ${shown(target)}`,
      })),
      { ...having(success, { ack: 'FULL', id: 7 }, { id: '7' }), it: 'are the same typed and as text' },
      {
        ...having(success, { 'hub-connection-device-id': 'd2', 'iothub-connection-device-id': 'd2' }),
        it: 'do not tell who sends: each call is made for the device that the hub has authenticated',
        backend: backend.map((one) => ({ ...one, headers: { ...one.headers, ...headersOf(one) } })),
      },
      {
        ...failure({}, 'the device id is longer than 512 bytes when percent-encoded'),
        it: 'are no help to a device whose id no backend can be told in full',
        device: 'd'.repeat(513),
        ack: { ...failed(invalid, 'the device id is longer than 512 bytes when percent-encoded'), ...readBody },
      },
      ...[eventType.toLowerCase(), 'Svc.Device.Deleted', 'model.update', 'constructor'].map((name) => ({
        properties: { ...properties, eventType: name },
        body,
        it: `must have an eventType of this service, with the case of its letters: ${name}`,
        ack: {
          success: false,
          code: 'operation_not_supported',
          details: expect.stringContaining(
            `eventType "${name}" is not one of this service; the nearest is Svc.Device.`,
          ),
        },
        ackProperties: { eventType: name },
      })),
      {
        properties: { ...properties, eventType: undefined },
        body,
        it: 'must have an eventType',
        ack: { success: false, code: invalid, details: 'property eventType is required' },
        ackProperties: { eventType: undefined },
      },
      {
        ...having(
          failure({}, 'property ack must be none, positive, negative or all'),
          { ack: 'sometimes', target: '..', objectId: 'x' },
          { target: '..' },
        ),
        it: 'are judged stage by stage, and before the body: the first fault answers',
        body: '{',
        ackProperties: { ...failureProperties, target: '..', objectId: undefined },
      },
    ],
    'body, as of every event': [
      { ...malformed, it: 'must be well-formed JSON' },
      { ...failure({}, 'body is empty, expected JSON'), it: 'must not be empty', body: '' },
      { ...failure({}, 'body is not valid UTF-8'), it: 'must be UTF-8', body: Buffer.from([0x22, 0xc3, 0x22]) },
      {
        ...failure({}, 'body begins with a byte order mark'),
        it: 'must not begin with a byte order mark',
        body: `\ufeff${text}`,
      },
      {
        ...failure({}, 'body is nested more than 64 levels deep'),
        it: 'must not be nested more than 64 levels deep',
        body: `{"variables":${'['.repeat(64)}${']'.repeat(64)}}`,
      },
      ...['[]', '"text"', 'null', '7'].map((other) => ({
        ...failure({}, 'body must be a JSON object'),
        it: `must be an object: ${other}`,
        body: other,
      })),
      {
        ...having(success, { 'content-encoding': 'gzip' }),
        it: 'is taken as it is, whatever content-encoding says: V1 knows no compression, nor do its replies',
      },
      {
        ...failure({ 'content-encoding': 'gzip' }, 'body is not valid UTF-8'),
        it: 'must not be compressed',
        body: gzipSync(text),
      },
    ],
    'backends, as of every event': decisive.flatMap((one) => {
      const before = backend.slice(0, backend.indexOf(one));
      const failing = { ...one, reply: [500, 'not for the device: http://backend.example'] } as const;
      const fails = (code: string, details: unknown) => ({
        properties,
        body,
        ack: { ...failed(code, details), ...readBody },
        ackProperties: failureProperties,
      });
      return [
        {
          ...fails(
            'not_authorized',
            expect.stringMatching(/^[a-z ]+: [a-z ]+ failed with HTTP 403: Forbidden: as it is$/),
          ),
          it: `a device that may not do this is told not_authorized, and nothing more is done: ${one.call}`,
          backend: [...before, { ...one, reply: problem(403, 'Forbidden') }],
        },
        {
          ...fails('internal_platform_error', expect.stringMatching(/^internal error, incident [0-9a-f-]{36}$/)),
          it: `a backend that fails to the end of its attempts is told as an incident id only: ${one.call}`,
          backend: [...before, failing, failing, failing],
          log: { level: 'warn', code: 'internal_platform_error' },
        },
      ];
    }),
  };
}
