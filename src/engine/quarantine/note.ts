/**
 * The part of a checkpoint about violent ends of sessions: the process crashed, hung, or lost the partition without a
 * release. Normally there is none.
 */
export interface Note {
  /** Violent ends since a session last finished every message that was in the hub when the session began. */
  readonly ends: number;
  /** Sequence number of the newest event when the last end was counted: no message in flight then is above it. */
  readonly upTo: number;
  /** Sequence number of the only suspect in work in the whole process. */
  readonly alone: number | undefined;
  /** By sequence number: suspects that are in work, were at a violent end, or are slow, and are not finished. */
  readonly suspects: ReadonlyMap<number, Suspicion>;
}

/** What is known about a suspect. */
export interface Suspicion {
  readonly isInWork: boolean;
  /** Others have waited for it, and then begun beside it. */
  readonly isSlow: boolean;
  /** It was not in work at the last violent end, and is noted only because it is slow. */
  readonly isCleared: boolean;
  /** Violent ends at which it was alone. */
  readonly ends: number;
}

/** A checkpoint in a blob has 8 KiB for it. */
export const mostNoted = 500;

/*
 * note     = version " " ends " " upTo " " alone " " suspects
 * version  = "2"
 * alone    = sequence number | "-"
 * suspects = "-" | suspect *( "," suspect )     at most 500
 * suspect  = distance [ "+" ] [ "~" | "." ] [ ":" ends ]
 * distance = from the suspect before, from 0 at first, to base 36; "+" is in work, "~" is slow, "." is slow and cleared
 */
const version = '2';
const grammar = /^2 (\d{1,16}) (-?\d{1,16}) (-|\d{1,16}) (-|[\da-z]{1,11}[\da-z+~.:,]{0,7000})$/;
const suspectGrammar = /^([\da-z]{1,11})(\+?)([~.]?)(?::(\d{1,9}))?$/;

/** When there are too many, omits the newest, and the cleared ones before others. */
export function encodeNote({ ends, upTo, alone, suspects }: Note): string {
  let before = 0;
  const text = [...suspects]
    .sort(([one, its], [other, others]) => Number(its.isCleared) - Number(others.isCleared) || one - other)
    .slice(0, mostNoted)
    .sort(([one], [other]) => one - other)
    .map(([sequenceNumber, { isInWork, isSlow, isCleared, ends }]) => {
      const distance = (sequenceNumber - before).toString(36);
      before = sequenceNumber;
      return `${distance}${isInWork ? '+' : ''}${isCleared ? '.' : isSlow ? '~' : ''}${ends > 0 ? `:${ends}` : ''}`;
    })
    .join(',');
  return [version, ends, upTo, alone ?? '-', text || '-'].join(' ');
}

/** Undefined when the text is missing, damaged or of another version. */
export function decodeNote(text: string | undefined): Note | undefined {
  const [, ends, upTo, alone, list] = grammar.exec(text ?? '') ?? [];
  if (list === undefined) return undefined;
  const suspects = new Map<number, Suspicion>();
  let sequenceNumber = 0;
  for (const one of list === '-' ? [] : list.split(',')) {
    const [, distance = '', inWork, slow, own] = suspectGrammar.exec(one) ?? [];
    if (distance === '') return undefined;
    sequenceNumber += Number.parseInt(distance, 36);
    const suspicion = {
      isInWork: inWork === '+',
      isSlow: slow !== '',
      isCleared: slow === '.',
      ends: Number(own ?? 0),
    };
    suspects.set(sequenceNumber, suspicion);
  }
  return { ends: Number(ends), upTo: Number(upTo), alone: alone === '-' ? undefined : Number(alone), suspects };
}

/** After so many violent ends, suspects wait for their turn. */
const endsBeforeTurns = 2;

export const isQuarantine = (note: Note | undefined): note is Note =>
  note !== undefined && note.ends >= endsBeforeTurns;

interface Opening {
  /** Sequence number of the checkpoint. */
  readonly position: number;
  /** Whether a message above it is done all the same. */
  isDone(sequenceNumber: number): boolean;
  /** Sequence number of the newest event in the hub. */
  readonly newest: number;
  /** Whether the last owner has not released the partition. */
  readonly afterViolentEnd: boolean;
}

/**
 * The note to be written when a session begins. What has finished is no suspect any more, and nothing else clears one: after a
 * violent end, those that were in work stay suspects, or, when none was, those that waited. Of a slow one that is cleared the note
 * keeps that it is slow: unknown ones begin all at once, and slow ones would take all connections to the backends.
 * @param note of the last session
 */
export function noteAtOpening(note: Note | undefined, opening: Opening): Note | undefined {
  const { position, newest, isDone, afterViolentEnd } = opening;
  // A damaged note may name an event that never comes: nothing was in flight above the newest (D197).
  const credible = note && note.upTo > newest ? { ...note, upTo: newest } : note;
  const kept = credible && isOpen(credible, position) ? credible : undefined;
  const left = [...(kept?.suspects ?? [])].filter(([number]) => number > position && !isDone(number));
  if (!afterViolentEnd) {
    const isAtRest = kept?.alone === undefined && left.every(([, { isInWork }]) => !isInWork);
    return kept && (isAtRest ? kept : { ...kept, alone: undefined, suspects: new Map(left.map(atRest)) });
  }
  if (position >= newest) return undefined; // every message that was in flight is done
  const wereInWork = left.some(([, { isInWork }]) => isInWork);
  const suspects = new Map(
    left.flatMap(([sequenceNumber, known]) => {
      const isCleared = !known.isInWork && known.ends === 0 && (wereInWork || known.isCleared);
      return isCleared && !known.isSlow ? [] : [[sequenceNumber, { ...known, isInWork: false, isCleared }] as const];
    }),
  );
  const alone = kept?.alone === undefined ? undefined : suspects.get(kept.alone);
  if (kept?.alone !== undefined && alone) suspects.set(kept.alone, { ...alone, ends: alone.ends + 1 });
  return { ends: (kept?.ends ?? 0) + 1, upTo: newest, alone: undefined, suspects };
}

const atRest = ([sequenceNumber, suspicion]: readonly [number, Suspicion]) =>
  [sequenceNumber, { ...suspicion, isInWork: false }] as const;

/** Whether a message that was in flight at a violent end may be unfinished. */
export const isOpen = ({ upTo }: Note, position: number): boolean => position < upTo;
