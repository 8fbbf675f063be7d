/**
 * The part of a checkpoint about unclean shutdowns: sessions that ended without releasing the partition, because the process
 * crashed or hung, or lost the partition. Normally there is none. It is stored as `note` (D344).
 */
export interface CrashRecord {
  /** Unclean shutdowns since a session last finished every message that was in the hub when the session began. */
  readonly ends: number;
  /** Sequence number of the newest event when the last shutdown was counted: no message in flight then is above it. */
  readonly upTo: number;
  /** Sequence number of the only suspect in work in the whole process. */
  readonly alone: number | undefined;
  /** By sequence number: unfinished suspects that are in work, were in work at an unclean shutdown, or are slow. */
  readonly suspects: ReadonlyMap<number, Suspicion>;
}

/** What is known about a suspect. */
export interface Suspicion {
  readonly isInWork: boolean;
  /** Other suspects waited for it, and then began beside it. */
  readonly isSlow: boolean;
  /** It was not in work at the last unclean shutdown, and is recorded only because it is slow. */
  readonly isCleared: boolean;
  /** Unclean shutdowns at which it was alone. */
  readonly ends: number;
}

/** A checkpoint in a blob has 8 KiB for it. */
export const maxSuspects = 500;

/*
 * record   = version " " ends " " upTo " " alone " " suspects
 * version  = "2"
 * alone    = sequence number | "-"
 * suspects = "-" | suspect *( "," suspect )     at most 500
 * suspect  = distance [ "+" ] [ "~" | "." ] [ ":" ends ]
 * distance = from the suspect before, from 0 at first, to base 36; "+" is in work, "~" is slow, "." is slow and cleared
 */
const version = '2';
const grammar = /^2 (\d{1,16}) (-?\d{1,16}) (-|\d{1,16}) (-|[\da-z]{1,11}[\da-z+~.:,]{0,7000})$/;
const suspectGrammar = /^([\da-z]{1,11})(\+?)([~.]?)(?::(\d{1,9}))?$/;

/** Of too many suspects, omits cleared ones first, and of those the newest first. */
export function encodeCrashRecord({ ends, upTo, alone, suspects }: CrashRecord): string {
  let before = 0;
  const text = [...suspects]
    .sort(([one, its], [other, others]) => Number(its.isCleared) - Number(others.isCleared) || one - other)
    .slice(0, maxSuspects)
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
export function decodeCrashRecord(text: string | undefined): CrashRecord | undefined {
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

/** From this number of unclean shutdowns on, suspects wait for their turn. */
const endsBeforeTurns = 2;

export const isQuarantine = (crashRecord: CrashRecord | undefined): crashRecord is CrashRecord =>
  crashRecord !== undefined && crashRecord.ends >= endsBeforeTurns;

interface SessionOpening {
  /** Sequence number of the checkpoint. */
  readonly position: number;
  /** Whether a message above it is done. */
  isDone(sequenceNumber: number): boolean;
  /** Sequence number of the newest event in the hub. */
  readonly newest: number;
  /** Whether the last owner has not released the partition. */
  readonly afterUncleanShutdown: boolean;
}

/**
 * The crash record to be written when a session begins. A finished message is no longer a suspect. After an unclean shutdown,
 * the suspects that were in work stay suspects, or, when none was, those that waited; the others are cleared. The record keeps
 * that a cleared suspect is slow: unknown messages begin all at once, and slow ones would take all connections to the backends.
 * @param crashRecord of the last session
 */
export function crashRecordAtOpening(
  crashRecord: CrashRecord | undefined,
  opening: SessionOpening,
): CrashRecord | undefined {
  const { position, newest, isDone, afterUncleanShutdown } = opening;
  // A damaged record may name an event that never comes: nothing was in flight above the newest (D197).
  const credible = crashRecord && crashRecord.upTo > newest ? { ...crashRecord, upTo: newest } : crashRecord;
  const kept = credible && isOpen(credible, position) ? credible : undefined;
  const left = [...(kept?.suspects ?? [])].filter(([number]) => number > position && !isDone(number));
  if (!afterUncleanShutdown) {
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

/** Whether a message that was in flight at an unclean shutdown may be unfinished. */
export const isOpen = ({ upTo }: CrashRecord, position: number): boolean => position < upTo;
