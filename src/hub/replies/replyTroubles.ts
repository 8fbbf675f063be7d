import type { Trouble, Troubles } from '../../observing/log.ts';
import type { Reply } from '../../protocol/reply.ts';
import type { SendRefusal } from './sendFailure.ts';

type Reason = SendRefusal['reason'];

/** Troubles that last until the hub takes replies again. */
const lasting = { level: 'error', still: () => ({}) } as const;

/** Troubles that concern more than one reply. Those of a single reply are in the log line of its message. */
const remarks: Partial<Record<Reason, Trouble>> = {
  quota: { ...lasting, message: 'the hub’s daily quota is used up; replies wait, one is tried each minute' },
  suspended: { ...lasting, message: 'the hub is suspended; replies wait, one is tried each minute' },
  throttled: { level: 'warn', message: 'the hub throttles replies; they are sent more slowly' },
  queue_full: { level: 'warn', message: 'devices do not fetch their replies, which wait for room in their queues' },
  unanswered: { level: 'warn', message: 'the hub did not settle a reply in time' },
};

const sourceOf = (reason: Reason) => `replies ${reason}`;

/** Logs what the result of a send shows about the hub. */
export function reportRefusal(refusal: SendRefusal | undefined, { deviceId }: Reply, troubles: Troubles): void {
  if (refusal?.kind !== 'hub' && refusal?.kind !== 'connection') {
    for (const reason of ['quota', 'suspended'] as const)
      troubles.clear(sourceOf(reason), 'the hub takes replies again');
  }
  const remark = refusal && remarks[refusal.reason];
  if (remark) troubles.raise(sourceOf(refusal.reason), { ...remark, fields: { device: deviceId } });
}
