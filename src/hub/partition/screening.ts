import { decodeNote, isQuarantine } from '../quarantine/note.ts';
import { createQuarantine, type QuarantineOptions, type Verdict } from '../quarantine/quarantine.ts';
import type { Queued } from './lanes.ts';

/** Suspects of violent ends do not run concurrently with others before they have been tried alone (G4, D29). */
export interface Screening<M> {
  isSuspect(sequenceNumber: number): boolean;
  /** Tries a message, the first of its lane. */
  try(deviceId: string, message: M): Promise<Verdict>;
  mustBeParked(sequenceNumber: number): boolean;
  /** Messages that wait for their trial or are being tried. */
  suspects(): number;
  isTrying(): boolean;
}

interface ScreeningOptions<M> extends Omit<QuarantineOptions, 'note'> {
  /** The note of the checkpoint. */
  readonly note: string | undefined;
  /** See Work. */
  handleAlone(message: M, tooLong: AbortSignal): Promise<boolean>;
  /** The message counts as handled to its end. */
  passOver(message: M): void;
  /** A trial has ended. */
  changed(): void;
}

/** Undefined when there are no suspects. */
export function createScreening<M extends Queued>(options: ScreeningOptions<M>): Screening<M> | undefined {
  const note = decodeNote(options.note);
  if (!isQuarantine(note)) return undefined;
  const quarantine = createQuarantine({ ...options, note });
  return {
    ...quarantine,
    try(deviceId, message) {
      const { sequenceNumber } = message;
      const handle = (tooLong: AbortSignal) => options.handleAlone(message, tooLong);
      return quarantine
        .try({ deviceId, sequenceNumber, handle, passOver: () => options.passOver(message) })
        .finally(options.changed);
    },
  };
}
