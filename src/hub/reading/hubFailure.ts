import { UnreadableCheckpoint } from '../stores/storedProgress.ts';
import { diagnoseReading, type ReadingDiagnosis } from './readingDiagnosis.ts';
import { ForeignCheckpoint, OldInformation } from './startPosition.ts';

/** The hub has not answered a request for its properties. */
class HubFailure extends Error {
  override readonly name = 'HubFailure';
  readonly diagnosis: ReadingDiagnosis;

  constructor(cause: unknown) {
    const diagnosis = diagnoseReading(cause, 'looking');
    super(diagnosis.hubSaid, { cause });
    this.diagnosis = diagnosis;
  }
}

/** @throws HubFailure */
export async function ofHub<T>(answer: Promise<T>): Promise<T> {
  try {
    return await answer;
  } catch (error) {
    throw new HubFailure(error);
  }
}

/** Undefined when the error comes from the store, not from the hub. */
export function diagnosisOf(error: unknown): ReadingDiagnosis | undefined {
  if (error instanceof HubFailure) return error.diagnosis;
  const ofCheckpoint = [UnreadableCheckpoint, ForeignCheckpoint, OldInformation];
  return ofCheckpoint.some((kind) => error instanceof kind) ? diagnoseReading(error, 'looking') : undefined;
}
