import type { StartPosition } from '../events/partitionLog.ts';
import { Refusal } from '../values/refusal.ts';

// amqp.annotation.x-opt-offset > '-1' | '@latest' | '1234', >= likewise
// amqp.annotation.x-opt-sequence-number > '7', >= likewise
// amqp.annotation.x-opt-enqueued-time > '1700000000000' (milliseconds), >= likewise
const expression =
  /^amqp\.annotation\.x-opt-(?<field>offset|sequence-number|enqueued-time)\s*(?<operator>>=|>)\s*'?(?<value>-?\d{1,16}|@latest)'?$/;

const fields = { offset: 'offset', 'sequence-number': 'sequenceNumber', 'enqueued-time': 'enqueuedTime' } as const;

/** Where a receiver with this selector starts; without one, at the beginning. Refuses what Event Hubs does not know. */
export function parseFilter(selector: unknown): StartPosition {
  if (selector === undefined || selector === null) return { by: 'offset', value: -1, inclusive: false };
  const found = typeof selector === 'string' ? expression.exec(selector.trim())?.groups : undefined;
  const { field, operator, value = '' } = found ?? {};
  const by = fields[field as keyof typeof fields];
  if (by === undefined || (value === '@latest' && by !== 'offset'))
    throw new Refusal('com.microsoft:argument-error', 'The filter of the receiver is none that Event Hubs knows.');
  return value === '@latest' ? { by: 'latest' } : { by, value: Number(value), inclusive: operator === '>=' };
}
