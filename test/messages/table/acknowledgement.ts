import { expect } from 'vitest';
import { derivedCorrelationId } from '../../support/world.ts';
import type { Row } from './row.ts';
import type { Variations } from './sample.ts';

const strange = 'c\r\n1: %2f';

/** When a message is acknowledged, and what an acknowledgement repeats. */
export function acknowledgementRows(of: Variations, name: string): readonly Row[] {
  const { kind, id, invalid, meaningless, success, malformed, having } = of;
  const { backend, notifications } = success;
  const repeated = { [id]: strange, target: 'edge/ü %2f/s' };
  const asked = [
    [undefined, success, false, 'is not sent when the request does not ask for one {S2.6 S3.5}'],
    [undefined, malformed, false, 'is not sent for a failure either when the request does not ask for one'],
    ['positive', success, true, 'is sent for a success when the device requests successes {S8.2}'],
    ['negative', success, false, 'is not sent for a success when the device requests failures'],
    ['Negative', malformed, true, 'is sent for a failure when the device requests failures {S8.2}'],
    ['positive', malformed, false, 'is not sent for a failure when the device requests successes'],
  ] as const;
  const rows: readonly Row[] = [
    ...asked.map(([ack, row, isSent, it]) => ({ ...having(row, { ack }), it, ...(!isSent && { ack: undefined }) })),
    {
      ...having(success, repeated, repeated),
      it: `repeats ${id} and target of the request, with any characters {S2.5 S2.7 S3.4 S3.6}`,
    },
    { ...having(malformed, repeated, repeated), it: `repeats ${id} and target of a request that fails {S8.1 S8.4}` },
    {
      ...having(success, { target: undefined }, { target: undefined }),
      it: 'has no target when the request has none {S2.7 S3.6}',
    },
    {
      // The acknowledgement of this one action repeats the context.
      ...having(success, {
        'iothub-ack': 'full',
        ...meaningless,
        ...(name === 'identity.update' ? {} : { context: 'c' }),
      }),
      it: `repeats no property of the request that the specification does not name${kind === 'event' ? ', and those of V2 mean nothing' : ''} {S8.1}`,
    },
    {
      ...success,
      it: 'that cannot be delivered leaves the message completed and its result in the log {S8.3 S8.4}',
      delivery: [...notifications.map(() => 'delivered' as const), { dropped: 'unknown_device' }],
      log: { code: 'ok', dropped: [{ kind: 'acknowledgement', device: 'd1', reason: 'unknown_device' }] },
    },
    {
      ...malformed,
      it: 'of a failure that cannot be delivered leaves the message completed and its error in the log {S8.3 S8.4 S20.8}',
      delivery: [{ dropped: 'queue_full' }],
      log: { code: invalid, details: expect.any(String), dropped: [{ reason: 'queue_full' }] },
    },
  ];
  if (kind === 'action') return rows;
  return [
    ...rows,
    ...[undefined, ''].map((given) => ({
      ...having(success, { id: given }, { id: derivedCorrelationId }),
      it: `has the generated id of the message when the id of the request is ${given === '' ? 'empty' : 'missing'} {S3.4}`,
      backend: backend.map((one) => ({
        ...one,
        headers: { ...one.headers, 'x-correlation-id': derivedCorrelationId },
      })),
    })),
    {
      ...having(malformed, { id: undefined }, { id: derivedCorrelationId }),
      it: 'has a generated id also when the request fails',
    },
  ];
}
