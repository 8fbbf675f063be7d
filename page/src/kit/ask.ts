import { useEffect, useState } from 'preact/hooks';

/** What went wrong with a request, in the words of the server; `status` 0: there was no answer. */
export class Refused extends Error {
  override readonly name = 'Refused';
  readonly status: number;

  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}

let authorization: string | undefined;

/** Sends this token with every request from now on. It is in memory only. What a header cannot have makes it a wrong one. */
export function withToken(token: string): void {
  authorization = `Bearer ${token.trim().replace(/[^\x21-\x7e]/g, '?')}`;
}

/** @throws Refused */
export async function fetched(path: string, init: RequestInit = {}): Promise<Response> {
  const headers = {
    ...(init.body ? { 'content-type': 'application/json' } : {}),
    ...(authorization ? { authorization } : {}),
  };
  const response = await fetch(path, { ...init, headers, cache: 'no-store' }).catch(() => undefined);
  if (response === undefined) throw new Refused(0, 'it does not answer');
  if (response.ok) return response;
  const text = await response.text();
  throw new Refused(response.status, sentenceIn(text) ?? `it answers with status ${response.status}`);
}

function sentenceIn(text: string): string | undefined {
  try {
    const { error, detail, title } = JSON.parse(text) as Record<string, unknown>;
    const found = error ?? detail ?? title;
    return typeof found === 'string' ? found : undefined;
  } catch {
    return undefined;
  }
}

/** @throws Refused */
export async function ask<T>(path: string, method = 'GET', body?: unknown): Promise<T> {
  const response = await fetched(path, { method, ...(body === undefined ? {} : { body: JSON.stringify(body) }) });
  const text = await response.text();
  return (text === '' ? undefined : JSON.parse(text)) as T;
}

export interface Polled<T> {
  readonly value: T | undefined;
  /** Why the last attempt failed. */
  readonly error: Refused | undefined;
  readonly again: () => void;
}

/** Asks again and again, while the page can be seen. */
export function usePolled<T>(path: string | undefined, everyMs: number): Polled<T> {
  const [value, setValue] = useState<T>();
  const [error, setError] = useState<Refused>();
  const [round, setRound] = useState(0);
  useEffect(() => {
    if (path === undefined) return;
    let isOver = false;
    let timer: ReturnType<typeof setTimeout> | undefined;
    const look = async () => {
      if (document.visibilityState === 'visible') {
        try {
          const next = await ask<T>(path);
          if (isOver) return;
          setValue(next);
          setError(undefined);
        } catch (problem) {
          if (!isOver) setError(problem as Refused);
        }
      }
      if (!isOver) timer = setTimeout(look, everyMs);
    };
    void look();
    return () => {
      isOver = true;
      clearTimeout(timer);
    };
  }, [path, everyMs, round]);
  return { value, error, again: () => setRound(round + 1) };
}
