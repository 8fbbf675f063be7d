import type { Ways } from '../otherwise/ways.ts';
import type { StartPosition } from './partitionLog.ts';

/** How the positions of a partition are said to clients, and read again. */
export interface Numbering {
  /** On the wire. */
  sequenceNumber(own: number): number;
  offset(own: number): string;
  /** A receiver's filter with plain offsets. */
  selector(filter: unknown): unknown;
  /** A start position in own numbers. */
  start(position: StartPosition): StartPosition;
}

const step = 2;
const mark = '1@';

export function createNumbering(ways: Ways): Numbering {
  const isByTwo = ways.has('events.sequence');
  const isOpaque = ways.has('events.offset');
  return {
    sequenceNumber: (own) => (isByTwo ? own * step : own),
    offset: (own) => (isOpaque && own >= 0 ? `${mark}${own}` : String(own)),
    selector: (filter) => (isOpaque && typeof filter === 'string' ? filter.replace(`'${mark}`, "'") : filter),
    start(position) {
      if (!isByTwo || position.by !== 'sequenceNumber') return position;
      const { value, inclusive } = position;
      return { ...position, value: inclusive ? Math.ceil(value / step) : Math.floor(value / step) };
    },
  };
}
