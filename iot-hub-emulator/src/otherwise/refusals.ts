import { Refusal } from '../values/refusal.ts';
import type { Ways } from './ways.ts';

const otherWords = 'The request cannot be served.';

/** Why a link is refused, as this hub says it. */
export function linkRefusal(refusal: Refusal, ways: Ways): Refusal {
  const { condition, message, info } = refusal;
  if (ways.has('reading.words') && condition !== 'amqp:link:redirect') return new Refusal(condition, otherWords, info);
  if (ways.has('reading.no-such-partition') && condition === 'com.microsoft:argument-out-of-range')
    return new Refusal('amqp:not-found', message);
  if (ways.has('reading.lower-level') && condition === 'amqp:link:stolen' && message.includes('already exists'))
    return new Refusal('amqp:resource-locked', message);
  return refusal;
}

/** Why a message to a device is refused. */
export const messageRefusal = (refusal: Refusal, ways: Ways): Refusal =>
  ways.has('c2d.words') ? new Refusal(refusal.condition, otherWords) : refusal;
