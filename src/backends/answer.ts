import { setImmediate } from 'node:timers/promises';
import type { Json } from '../protocol/json.ts';
import { answerReader, type Elements } from '../protocol/jsonAnswer.ts';
import type { Keys } from '../protocol/jsonKeys.ts';

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

/** The text of an answer, or of a part of it, decoded in slices, too: what is not ASCII takes as long as reading it. */
export async function textOf(bytes: Buffer): Promise<string> {
  let text = '';
  for (let start = 0; ; ) {
    let end = start + sliceBytes;
    if (end >= bytes.length) return text + bytes.toString('utf8', start);
    while (isInsideCharacter(bytes[end] as number)) end -= 1;
    text += bytes.toString('utf8', start, end);
    start = end;
    await setImmediate();
  }
}

const isInsideCharacter = (byte: number): boolean => (byte & 0xc0) === 0x80;
