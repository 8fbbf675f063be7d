import type { Change } from '../world/storage.ts';
import { invalid, Problem } from './problem.ts';
import type { Answer } from './routes.ts';

/** What makes two mutations the same request; `path` with its query. */
export interface Mutation {
  readonly backend: string;
  readonly deviceId: string;
  readonly key: string;
  readonly method: string;
  readonly path: string;
}

interface Remembered {
  readonly request: string;
  readonly answer: Answer;
}

/** At least this many of the latest mutations are remembered. */
const REMEMBERED = 20_000;
const LONGEST_KEY = 255;

/** Remembers the answers of mutations by `idempotency-key`, so that a repeat has no second effect. */
export function createIdempotency(record: (change: Change) => void) {
  const answers = new Map<string, Remembered>();

  function remember(id: string, remembered: Remembered): void {
    answers.set(id, remembered);
    if (answers.size <= REMEMBERED) return;
    const [oldest] = answers.keys();
    if (oldest !== undefined) answers.delete(oldest);
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
      remember(id, { request, answer });
      record({ kind: 'answer', id, request, ...answer });
      return answer;
    },
    restore({ id, request, status, body }: Extract<Change, { kind: 'answer' }>): void {
      remember(id, { request, answer: body === undefined ? { status } : { status, body } });
    },
    dump: (): Change[] =>
      Array.from(answers, ([id, { request, answer }]) => ({ kind: 'answer', id, request, ...answer })),
    clear: () => answers.clear(),
  };
}

export type Idempotency = ReturnType<typeof createIdempotency>;
