/**
 * The part of a checkpoint about violent ends of sessions: the process crashed, hung, or lost the partition without a
 * release. Normally there is none.
 */
export interface Note {
  /** Violent ends since a session last finished every message that was in the hub when the session began. */
  readonly ends: number;
  /** Sequence number of the newest event when the last end was counted: no message in flight then is above it. */
  readonly upTo: number;
  /** Sequence number of the only message in flight. */
  readonly alone: number | undefined;
  /** By sequence number: the ends at which the message was alone in flight; 0 when it only took too long. */
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

/** Omits the trials with the lowest counts when there are too many. */
export function encodeNote({ ends, upTo, alone, trials }: Note): string {
  const telling = [...trials].sort(([, one], [, other]) => other - one).slice(0, mostTrials);
  const text = telling.map(([sequenceNumber, count]) => `${sequenceNumber}:${count}`).join(',');
  return [version, ends, upTo, alone ?? '-', text || '-'].join(' ');
}

/** Undefined when the text is missing, damaged or of another version. */
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

/** After so many violent ends, suspects are handled alone. */
export const endsBeforeTrials = 2;

export const isQuarantine = (note: Note | undefined): note is Note =>
  note !== undefined && note.ends >= endsBeforeTrials;

interface Opening {
  /** Sequence number of the checkpoint. */
  readonly position: number;
  /** Sequence number of the newest event in the hub. */
  readonly newest: number;
  /** Whether the last owner has not released the partition. */
  readonly afterViolentEnd: boolean;
}

/**
 * The note to be written when a session begins.
 * @param note of the last session
 */
export function noteAtOpening(
  note: Note | undefined,
  { position, newest, afterViolentEnd }: Opening,
): Note | undefined {
  // A damaged note may name an event that never comes: nothing was in flight above the newest (D197).
  const credible = note && note.upTo > newest ? { ...note, upTo: newest } : note;
  const kept = credible && isOpen(credible, position) ? credible : undefined;
  if (!afterViolentEnd) return kept?.alone === undefined ? kept : { ...kept, alone: undefined };
  if (position >= newest) return undefined; // every message that was in flight is done
  const { ends, alone, trials } = kept ?? { ends: 0, alone: undefined, trials: new Map<number, number>() };
  const unfinished = new Map([...trials].filter(([sequenceNumber]) => sequenceNumber > position));
  if (alone !== undefined && alone > position) unfinished.set(alone, (trials.get(alone) ?? 0) + 1);
  return { ends: ends + 1, upTo: newest, alone: undefined, trials: unfinished };
}

/** Whether a message that was in flight at a violent end may be unfinished. */
export const isOpen = ({ upTo }: Note, position: number): boolean => position < upTo;
