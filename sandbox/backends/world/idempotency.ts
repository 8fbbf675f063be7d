import { invalid, Problem } from '../requests/problem.ts';
import type { Answer } from '../routes/route.ts';

/** What makes two mutations the same request; `path` with its query. */
export interface Mutation {
  readonly backend: string;
  readonly deviceId: string;
  readonly key: string;
  readonly method: string;
  readonly path: string;
}

export type AnswerChange = { readonly kind: 'answer'; readonly id: string; readonly request: string } & Answer;

interface StoredAnswer {
  readonly request: string;
  readonly answer: Answer;
  readonly bytes: number;
}

/** Answers are remembered up to so many bytes; the oldest go. */
const MOST_BYTES = 64 * 1024 * 1024;
/** What an answer takes besides its texts, roughly. */
const OBJECTS_BYTES = 256;
const LONGEST_KEY = 255;

/** Remembers the answers of mutations by `idempotency-key`, so that a repeat has no second effect. */
export function createIdempotency(record: (change: AnswerChange) => void, mostBytes = MOST_BYTES) {
  const answers = new Map<string, StoredAnswer>();
  let bytes = 0;

  function store(id: string, request: string, answer: Answer): void {
    bytes -= answers.get(id)?.bytes ?? 0;
    answers.delete(id);
    const stored = { request, answer, bytes: sizeOf([id, request, answer.body ?? '']) };
    answers.set(id, stored);
    bytes += stored.bytes;
    for (const [oldest, { bytes: freed }] of answers) {
      if (bytes <= mostBytes) return;
      answers.delete(oldest);
      bytes -= freed;
    }
  }

  return {
    /**
     * Runs `handle` unless the same mutation ran before: then its answer (whatever it was) is given again. The body is
     * not compared: a caller that repeats itself may have read a newer version in between. The key with another method
     * or path → 422.
     */
    once({ backend, deviceId, key, method, path }: Mutation, handle: () => Answer): Answer {
      if (key === '' || key.length > LONGEST_KEY)
        throw invalid(`idempotency-key must have 1 to ${LONGEST_KEY} characters`);
      const id = JSON.stringify([backend, deviceId, key]);
      const request = `${method} ${path}`;
      const known = answers.get(id);
      if (known) {
        if (known.request === request) return known.answer;
        throw new Problem(422, 'Idempotency key reused', 'the idempotency-key was used for another request');
      }
      const answer = handle();
      store(id, request, answer);
      record({ kind: 'answer', id, request, ...answer });
      return answer;
    },
    restore({ id, request, status, body }: AnswerChange): void {
      store(id, request, body === undefined ? { status } : { status, body });
    },
    dump: (): AnswerChange[] =>
      Array.from(answers, ([id, { request, answer }]) => ({ kind: 'answer', id, request, ...answer })),
    clear() {
      answers.clear();
      bytes = 0;
    },
  };
}

/** A character takes two bytes at most. */
const sizeOf = (texts: readonly string[]): number =>
  texts.reduce((bytes, { length }) => bytes + 2 * length, OBJECTS_BYTES);

export type Idempotency = ReturnType<typeof createIdempotency>;
