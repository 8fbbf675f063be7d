import { setImmediate } from 'node:timers/promises';
import { answerReader, type Elements, type Json, type Keys } from '../protocol/json.ts';

/** Room for answers that a request keeps until its replies have been handed over, beyond what its card says (A10). */
export interface KeepingRoom {
  /**
   * Takes room for all that one request may ever keep; may be called again. Undefined when it has it; else a promise of it: until then
   * it may keep nothing. The wait does not count towards its time (P2).
   * @throws Cancelled, in the promise
   */
  takeAll(): Promise<void> | undefined;
}

/** What is read of an answer, and what is made of it. */
export interface AnswerReading<T> {
  /** The keys of the outermost object that `result` looks at. */
  readonly keys: Keys;
  /** A list of the outermost object, which is read element by element. */
  readonly elements?: Elements;
  /** Throws when the answer is not as expected. */
  result(answer: Json): T;
}

/** A larger answer is read in slices of this size, and what else there is to do has its turn after each (R6). */
export const sliceBytes = 256 * 1024;

/** @throws MalformedJson, and what the reading throws */
export async function readAnswer<T>(data: Uint8Array, { keys, elements, result }: AnswerReading<T>): Promise<T> {
  const readOn = answerReader(data, keys, elements);
  for (;;) {
    const answer = readOn(sliceBytes);
    if (answer !== undefined) return result(answer);
    await setImmediate();
  }
}
