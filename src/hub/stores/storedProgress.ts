import type { Progress } from '../../engine/progress/tracked.ts';

/**
 * A stored checkpoint is damaged, or belongs to another partition. Its partition is not read: to begin at the start
 * position instead would handle everything again (D195).
 */
export class UnreadableCheckpoint extends Error {
  override readonly name = 'UnreadableCheckpoint';
}

interface Rule {
  readonly what: string;
  readonly must: string;
  holds(value: unknown): boolean;
}

/** Offsets are opaque (fact events.offset), but none of the words and signs that mean another position to the hub is one. */
const offset = /^(?:-1|\w[!#-&(-~]{0,255})$/;

const rules: Readonly<Record<keyof Progress, Rule>> = {
  sequenceNumber: {
    what: 'sequence number',
    must: `a whole number from -1 to ${Number.MAX_SAFE_INTEGER}`,
    holds: (value) => Number.isSafeInteger(value) && Number(value) >= -1,
  },
  offset: {
    what: 'offset',
    must: 'an offset of the hub',
    holds: (value) => typeof value === 'string' && offset.test(value),
  },
  completed: { what: 'map', must: 'a text', holds: (value) => typeof value === 'string' },
  note: { what: 'crash record', must: 'a text', holds: (value) => value === undefined || typeof value === 'string' },
};

/**
 * @param where names the checkpoint for an operator
 * @throws UnreadableCheckpoint
 */
export function progressOf(stored: unknown, where: string): Progress {
  const fields = (typeof stored === 'object' && stored !== null ? stored : {}) as Progress;
  for (const [name, { what, must, holds }] of Object.entries(rules)) {
    const value: unknown = fields[name as keyof Progress];
    if (!holds(value)) throw new UnreadableCheckpoint(`${where}: its ${what} is ${shown(value)}, not ${must}`);
  }
  return fields;
}

const mostShown = 60;

const shown = (value: unknown): string => {
  const text = JSON.stringify(value) ?? 'missing';
  return text.length > mostShown ? `${text.slice(0, mostShown)}…` : text;
};
