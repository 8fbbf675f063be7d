import { derivedId, eventId } from '../../src/protocol/event.ts';
import { hubEvent } from './events.ts';

/**
 * The key of a mutation of the tables' event (D4).
 * @param call method and path
 * @param answered how many times this very call has been answered before
 */
export const idempotencyKey = (call: string, answered = 0): string =>
  derivedId(eventId(hubEvent(), { hub: 'hub', partition: '0' }, 'd1'), `${call} ${answered}`);
