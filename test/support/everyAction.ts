import { deflateSync, gzipSync } from 'node:zlib';
import { expect } from 'vitest';
import { bearerToken } from './dispatching.ts';
import { hostileTargets, shown, strangeTargets, targetFault } from './hostileNames.ts';
import { type Row, requestProperties } from './messageTable.ts';
import type { ScriptedCall } from './scriptedBackend.ts';
import { problem } from './world.ts';

/** A request of one action that succeeds. */
interface Sample {
  readonly action: string;
  readonly properties?: Readonly<Record<string, string>>;
  readonly body: object;
  readonly backend: readonly ScriptedCall[];
  /** The calls without which it does not succeed; all of them unless told otherwise. */
  readonly decisive?: readonly ScriptedCall[];
  readonly ack: Readonly<Record<string, unknown>>;
  /** The acknowledgement of a failure. */
  readonly failed: (code: string, details: unknown) => Readonly<Record<string, unknown>>;
}

/** The rows that every table of a V2 action begins with: what the specification says of all of them. */
export function everyAction(sample: Sample): Readonly<Record<string, readonly Row[]>> {
  const { action, properties = {}, body, backend, decisive = backend, ack, failed } = sample;
  const text = JSON.stringify(body);
  const success = { properties, body, backend, ack };
  const having = (more: Readonly<Record<string, unknown>>) => ({ properties: { ...properties, ...more } });
  const malformed = { body: '{', ack: failed('validation_error', 'body is not well-formed JSON, it ends too early') };
  const refused = (it: string, more: Readonly<Record<string, unknown>>, details: string, rest: Partial<Row> = {}) => ({
    it,
    ...having(more),
    body,
    ack: failed('validation_error', details),
    ...rest,
  });

  const filler = (total: number) => {
    const taken = Object.entries({ ...requestProperties.V2(action), ...properties, x: '' });
    return 'x'.repeat(taken.reduce((left, [name, value]) => left - Buffer.byteLength(`${name}${value}`), total));
  };

  return {
    'acknowledgement, as of every action': [
      {
        ...success,
        it: 'is not sent when the request does not ask for one',
        ...having({ ack: undefined }),
        ack: undefined,
      },
      { ...success, it: 'is sent for a success to who wants to hear of successes', ...having({ ack: 'positive' }) },
      {
        ...success,
        it: 'is not sent for a success to who wants to hear of failures',
        ...having({ ack: 'negative' }),
        ack: undefined,
      },
      { ...malformed, it: 'is sent for a failure to who wants to hear of failures', ...having({ ack: 'Negative' }) },
      {
        ...malformed,
        it: 'is not sent for a failure to who wants to hear of successes',
        ...having({ ack: 'positive' }),
        ack: undefined,
      },
      {
        ...success,
        it: 'repeats correlationId and target of the request, whatever characters they have',
        ...having({ correlationId: 'c\r\n1: %2f', target: 'edge/ü %2f/s' }),
        ackProperties: { correlationId: 'c\r\n1: %2f', target: 'edge/ü %2f/s' },
      },
      {
        ...malformed,
        it: 'repeats correlationId and target of a request that fails',
        ...having({ correlationId: 'c\r\n1: %2f', target: 'edge/ü %2f/s' }),
        ackProperties: { correlationId: 'c\r\n1: %2f', target: 'edge/ü %2f/s' },
      },
      {
        ...success,
        it: 'has an empty target when the request has none',
        ...having({ target: undefined }),
        ackProperties: { target: '' },
      },
      {
        ...success,
        it: 'repeats no property of the request that the specification does not name',
        ...having({
          timeout: 5,
          'iothub-ack': 'full',
          'svc-messagetype': 'platformEvent',
          colour: 'red',
          ...(action === 'identity.update' ? {} : { context: 'c' }),
        }),
      },
      {
        ...success,
        it: 'that cannot be delivered leaves the message completed and its result in the log',
        delivery: [{ dropped: 'unknown_device' }],
        log: { code: 'ok', dropped: [{ kind: 'acknowledgement', device: 'd1', reason: 'unknown_device' }] },
      },
      {
        ...malformed,
        it: 'of a failure that cannot be delivered leaves the message completed and its error in the log',
        ...having({}),
        delivery: [{ dropped: 'queue_full' }],
        log: { code: 'validation_error', details: expect.any(String), dropped: [{ reason: 'queue_full' }] },
      },
    ],
    'properties, as of every action': [
      { ...success, it: 'may take 32,768 bytes', ...having({ x: filler(32_768) }) },
      refused('are refused at one byte more, with a code of their own', { x: filler(32_769) }, '', {
        ack: failed(
          'platform_event_validation_error',
          'the message properties exceed the 32 kB header limit (32768 bytes of names and values)',
        ),
      }),
      refused('must have version 2', { version: 1 }, 'property version must be 2'),
      refused('must have a correlationId', { correlationId: undefined }, 'property correlationId is required', {
        ackProperties: { correlationId: undefined },
      }),
      refused(
        'must have an ack that is known; another counts as all',
        { ack: 'sometimes' },
        'property ack must be none, positive, negative or all',
      ),
      ...strangeTargets.map((target) => ({
        ...success,
        it: `may have any target, which comes back unchanged: ${target}`,
        ...having({ target }),
        ackProperties: { target },
      })),
      ...hostileTargets.map((target) =>
        refused(
          `must have a target without control characters: ${shown(target)}`,
          { target },
          `property target ${targetFault}`,
          { ackProperties: { target } },
        ),
      ),
      refused(
        'must have a timeout of whole seconds up to the maximum',
        { timeout: '901' },
        'property timeout must be whole seconds from 1 to 900',
      ),
      { ...success, it: 'are the same typed and as text', ...having({ version: '2', timeout: 900, ack: 'FULL' }) },
      {
        ...success,
        it: 'do not tell who sends: each call is made for the device that the hub has authenticated',
        ...having({ 'hub-connection-device-id': 'd2', 'iothub-connection-device-id': 'd2' }),
        backend: backend.map((one) => ({ ...one, headers: { ...one.headers, ...headersOf(one) } })),
      },
    ],
    'body, as of every action': [
      { ...malformed, it: 'must be well-formed JSON', ...having({}) },
      {
        ...having({}),
        it: 'must not be empty',
        body: '',
        ack: failed('validation_error', 'body is empty, expected JSON'),
      },
      {
        ...having({}),
        it: 'must be UTF-8',
        body: Buffer.from([0x22, 0xc3, 0x22]),
        ack: failed('validation_error', 'body is not valid UTF-8'),
      },
      ...(
        [
          ['base64 text of gzip data', 'gzip', gzipSync(text).toString('base64')],
          ['quoted base64 text of gzip data', 'GZIP', JSON.stringify(gzipSync(text).toString('base64'))],
          ['bare gzip data', 'gzip', gzipSync(text)],
        ] as const
      ).map(([form, encoding, compressed]) => ({
        ...success,
        it: `may be ${form}; then the acknowledgement is compressed too`,
        ...having({ 'content-encoding': encoding }),
        body: compressed,
        ackProperties: { 'content-encoding': 'gzip' },
      })),
      {
        ...success,
        it: 'may be base64 text of deflate data; the acknowledgement is not compressed',
        ...having({ 'content-encoding': 'deflate' }),
        body: deflateSync(text).toString('base64'),
      },
      {
        ...having({ 'content-encoding': 'gzip' }),
        it: 'must be what content-encoding says; the failure is not compressed',
        body,
        ack: failed('decompression_error', 'body is neither gzip data nor base64 text of it'),
      },
    ],
    'backends, as of every action': decisive.flatMap((one) => {
      const before = backend.slice(0, backend.indexOf(one));
      const failing = { ...one, reply: [500, 'not for the device: http://backend.example'] } as const;
      return [
        {
          it: `a device that may not do this is told not_authorized, and nothing more is done: ${one.call}`,
          ...having({}),
          body,
          backend: [...before, { ...one, reply: problem(403, 'Forbidden') }],
          ack: failed(
            'not_authorized',
            expect.stringMatching(/^[a-z ]+: [a-z ]+ failed with HTTP 403: Forbidden: as it is$/),
          ),
        },
        {
          it: `a backend that fails to the end of its attempts is told as an incident id only: ${one.call}`,
          ...having({}),
          body,
          backend: [...before, failing, failing, failing],
          ack: failed('internal_platform_error', expect.stringMatching(/^internal error, incident [0-9a-f-]{36}$/)),
          log: { level: 'warn', code: 'internal_platform_error' },
        },
      ];
    }),
  };
}

/** On every call; mutations have a key besides. */
export const headersOf = ({ call }: ScriptedCall) => ({
  authorization: `Bearer ${bearerToken}`,
  'x-svc-device-id': 'd1',
  'x-correlation-id': 'c-1',
  traceparent: /^00-[0-9a-f]{32}-[0-9a-f]{16}-01$/,
  ...(/^GET |^POST \/query$/.test(call) ? {} : { 'idempotency-key': /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/ }),
});
