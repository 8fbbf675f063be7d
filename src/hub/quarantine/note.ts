/**
 * What the checkpoint says of sessions that ended violently: the process died, hung, or lost the partition, and nobody
 * gave it back. There is none in normal times.
 */
export interface Note {
  /** Such ends, since a session last came past everything that was there when it began. */
  readonly ends: number;
  /** Sequence number of the newest event when the last of them was counted: whatever was in work then is not above it. */
  readonly upTo: number;
  /** Sequence number of the message that is alone in work. */
  readonly alone: number | undefined;
  /** By sequence number of a message: at how many of the ends it was alone in work; 0 when it only took too long. */
  readonly trials: ReadonlyMap<number, number>;
}

/*
 * note   = version " " ends " " upTo " " alone " " trials
 * version = "1"
 * alone  = sequence number | "-"
 * trials = "-" | trial *( "," trial )          at most 64
 * trial  = sequence number ":" count
 */
const version = '1';
const mostTrials = 64;
const grammar = /^1 (\d{1,16}) (-?\d{1,16}) (-|\d{1,16}) (-|\d{1,16}:\d{1,16}(?:,\d{1,16}:\d{1,16}){0,63})$/;

/** Trials beyond the bound are left out, those that say least first. */
export function encodeNote({ ends, upTo, alone, trials }: Note): string {
  const telling = [...trials].sort(([, one], [, other]) => other - one).slice(0, mostTrials);
  const text = telling.map(([sequenceNumber, count]) => `${sequenceNumber}:${count}`).join(',');
  return [version, ends, upTo, alone ?? '-', text || '-'].join(' ');
}

/** Undefined when there is none, or none of this version. */
export function decodeNote(text: string | undefined): Note | undefined {
  const parts = grammar.exec(text ?? '');
  if (parts === null) return undefined;
  const [, ends = '', upTo = '', alone = '', trials = ''] = parts;
  return {
    ends: Number(ends),
    upTo: Number(upTo),
    alone: alone === '-' ? undefined : Number(alone),
    trials: new Map(trials === '-' ? [] : trials.split(',').map((trial) => trial.split(':').map(Number) as Trial)),
  };
}

type Trial = [sequenceNumber: number, count: number];

/** From so many violent ends on, suspects are handled alone. */
export const endsBeforeTrials = 2;

export const isQuarantine = (note: Note | undefined): note is Note =>
  note !== undefined && note.ends >= endsBeforeTrials;

interface Opening {
  /** Of the checkpoint. */
  readonly position: number;
  /** Sequence number of the newest event in the hub. */
  readonly newest: number;
  /** Whether nobody gave the partition back since it was last read. */
  readonly afterViolentEnd: boolean;
}

/**
 * What is to be noted when a session begins.
 * @param note as the session before has left it
 */
export function noteAtOpening(
  note: Note | undefined,
  { position, newest, afterViolentEnd }: Opening,
): Note | undefined {
  const kept = note && isOpen(note, position) ? note : undefined;
  if (!afterViolentEnd) return kept?.alone === undefined ? kept : { ...kept, alone: undefined };
  if (position >= newest) return undefined; // nothing that could have been in work is left
  const { ends, alone, trials } = kept ?? { ends: 0, alone: undefined, trials: new Map<number, number>() };
  const unfinished = new Map([...trials].filter(([sequenceNumber]) => sequenceNumber > position));
  if (alone !== undefined && alone > position) unfinished.set(alone, (trials.get(alone) ?? 0) + 1);
  return { ends: ends + 1, upTo: newest, alone: undefined, trials: unfinished };
}

/** Whether some of what may have been in work at a violent end can still be unfinished. */
export const isOpen = ({ upTo }: Note, position: number): boolean => position < upTo;
