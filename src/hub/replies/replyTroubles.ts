import type { Trouble, Troubles } from '../../log/troubles.ts';
import type { Reply } from '../../protocol/reply.ts';
import type { SendRefusal } from './sendFailure.ts';

/** Troubles that concern more than one reply. Those of a single reply are in the log line of its message. */
const remarks: { readonly [Reason in SendRefusal['reason']]?: Trouble } = {
  quota: {
    level: 'error',
    message: 'the hub’s daily quota is used up; replies wait, one is tried each minute',
    still: () => ({}),
  },
  suspended: {
    level: 'error',
    message: 'the hub is suspended; replies wait, one is tried each minute',
    still: () => ({}),
  },
  throttled: { level: 'warn', message: 'the hub throttles replies; they are sent more slowly' },
  queue_full: { level: 'warn', message: 'devices do not fetch their replies, which wait for room in their queues' },
  unanswered: { level: 'warn', message: 'the hub did not settle a reply in time' },
};

const sourceOf = (reason: SendRefusal['reason']) => `replies ${reason}`;
const lasting = [sourceOf('quota'), sourceOf('suspended')];

/** Logs what the result of a send shows about the hub. */
export function reportRefusal(refusal: SendRefusal | undefined, { deviceId }: Reply, troubles: Troubles): void {
  if (refusal?.kind !== 'hub' && refusal?.kind !== 'connection') {
    for (const source of lasting) troubles.clear(source, 'the hub takes replies again');
  }
  const remark = refusal && remarks[refusal.reason];
  if (remark) troubles.raise(sourceOf(refusal.reason), { ...remark, fields: { device: deviceId } });
}
