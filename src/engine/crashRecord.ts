/** The part of a checkpoint about unclean shutdowns: sessions that ended without releasing the partition. It is stored as `note` (D344). */
export interface CrashRecord {
  /** Unclean shutdowns since a session last finished every message that was in the hub when the session began. */
  readonly ends: number;
  /** Sequence number of the newest event when the last shutdown was counted: no message in flight then is above it. */
  readonly upTo: number;
  /** Sequence number of the only suspect in work in the whole process. */
  readonly alone: number | undefined;
  /** By sequence number: unfinished suspects that are in work, or were at an unclean shutdown. */
  readonly suspects: ReadonlyMap<number, Suspicion>;
}

/** `ends`: unclean shutdowns at which it was alone. */
export type Suspicion = { readonly isInWork: boolean; readonly ends: number };

/** A checkpoint in a blob has 8 KiB for it. */
export const maxSuspects = 500;

/*
 * record   = version " " ends " " upTo " " alone " " suspects
 * version  = "2"
 * alone    = sequence number | "-"
 * suspects = "-" | suspect *( "," suspect )     at most 500
 * suspect  = distance [ "+" ] [ "~" | "." ] [ ":" ends ]
 * distance = from the suspect before, from 0 at first, to base 36; "+" is in work; 1.0 also wrote "~" for slow, "." for slow and cleared
 */
const version = '2';
const grammar = /^2 (\d{1,16}) (-?\d{1,16}) (-|\d{1,16}) (-|[\da-z]{1,11}[\da-z+~.:,]{0,7000})$/;
const suspectGrammar = /^([\da-z]{1,11})(\+?)([~.]?)(?::(\d{1,9}))?$/;

/** Of too many suspects, omits the newest. */
export function encodeCrashRecord({ ends, upTo, alone, suspects }: CrashRecord): string {
  let before = 0;
  const text = [...suspects]
    .sort(([one], [other]) => one - other)
    .slice(0, maxSuspects)
    .map(([sequenceNumber, { isInWork, ends }]) => {
      const distance = (sequenceNumber - before).toString(36);
      before = sequenceNumber;
      return `${distance}${isInWork ? '+' : ''}${ends > 0 ? `:${ends}` : ''}`;
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
    if (slow !== '.') suspects.set(sequenceNumber, { isInWork: inWork === '+', ends: Number(own ?? 0) });
  }
  return { ends: Number(ends), upTo: Number(upTo), alone: alone === '-' ? undefined : Number(alone), suspects };
}

/** From this number of unclean shutdowns on, suspects begin in batches. */
const endsBeforeBatches = 2;

export const isQuarantine = (crashRecord: CrashRecord | undefined): crashRecord is CrashRecord =>
  crashRecord !== undefined && crashRecord.ends >= endsBeforeBatches;

interface SessionOpening {
  readonly position: number;
  isDone(sequenceNumber: number): boolean;
  readonly newest: number;
  readonly afterUncleanShutdown: boolean;
}

/**
 * The crash record to be written when a session begins. After an unclean shutdown, the unfinished suspects that were in work stay blamed,
 * or, when none was, those that were before; so does one that has been alone at an end. The others are cleared.
 */
export function crashRecordAtOpening(
  crashRecord: CrashRecord | undefined,
  { position, newest, isDone, afterUncleanShutdown }: SessionOpening,
): CrashRecord | undefined {
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
  const suspects = new Map(left.filter(([, { isInWork, ends }]) => isInWork || ends > 0 || !wereInWork).map(atRest));
  const alone = kept?.alone === undefined ? undefined : suspects.get(kept.alone);
  if (kept?.alone !== undefined && alone) suspects.set(kept.alone, { ...alone, ends: alone.ends + 1 });
  return { ends: (kept?.ends ?? 0) + 1, upTo: newest, alone: undefined, suspects };
}

const atRest = ([sequenceNumber, suspicion]: readonly [number, Suspicion]) =>
  [sequenceNumber, { ...suspicion, isInWork: false }] as const;

/** Whether a message that was in flight at an unclean shutdown may be unfinished. */
export const isOpen = ({ upTo }: CrashRecord, position: number): boolean => position < upTo;
