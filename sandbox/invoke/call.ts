import { randomUUID } from 'node:crypto';
import { type BackendCall, type CallEntry, callsIn } from '../backends/calls.ts';
import type { EntryOf } from '../hub/journal/entry.ts';
import type { SandboxState } from '../state.ts';

/** What an application asks the front door for. */
export interface Request {
  objectId: string;
  model: string;
  method: string;
  /** Bearer token; without one there is no such header. */
  token: string | undefined;
  /** JSON text, sent as it is. */
  body: string;
}

export type MethodEntry = Omit<EntryOf<'method'>, 'time'>;

/** One call of the front door: what was answered, and what came of it on the way. */
export interface Exchange {
  url: string;
  correlationId: string;
  status: number;
  headers: Headers;
  /** The answer's text. */
  answer: string;
  tookMs: number;
  /** What the front door asked the backends. */
  calls: BackendCall[];
  /** The direct methods it had the hub call, by what became of them. */
  direct: MethodEntry[];
}

/** The front door has not answered; unless it took no connection, nobody knows what it did. */
export class NoAnswer extends Error {
  override name = 'NoAnswer';
  readonly wasAsked: boolean;

  constructor(cause: unknown) {
    const inner = cause instanceof Error && cause.cause instanceof Error ? cause.cause : cause;
    super(`The front door does not answer: ${inner instanceof Error ? inner.message : inner}`, { cause });
    this.wasAsked = !(inner instanceof Error && 'code' in inner && inner.code === 'ECONNREFUSED');
  }
}

/** Calls the front door of a sandbox. Rejects with `NoAnswer` when it does not answer at all. */
export async function callFrontDoor(state: SandboxState, request: Request, withinMs: number): Promise<Exchange> {
  const { objectId, model, method, token, body } = request;
  if (!state.methods) throw new Error('This sandbox was started without remote methods.');
  const path = ['objects', objectId, 'models', model, 'methods', method].map(encodeURIComponent).join('/');
  const url = `${state.methods.url}/${path}`;
  const correlationId = randomUUID();
  const began = performance.now();
  const { status, headers, answer } = await post(url, {
    headers: {
      accept: 'application/json',
      'content-type': 'application/json',
      'x-correlation-id': correlationId,
      ...(token !== undefined && { authorization: `Bearer ${token}` }),
    },
    body,
    signal: AbortSignal.timeout(withinMs),
  });
  const tookMs = performance.now() - began;
  const journal = `${state.hub.adminUrl}/journal?correlationId=${correlationId}`;
  const { entries } = await read<{ entries: (CallEntry | MethodEntry)[] }>(journal);
  return {
    ...{ url, correlationId, status, headers, answer, tookMs },
    calls: callsIn(entries),
    direct: entries.filter((entry): entry is MethodEntry => entry.kind === 'method'),
  };
}

async function post(url: string, init: RequestInit): Promise<Pick<Exchange, 'status' | 'headers' | 'answer'>> {
  try {
    const response = await fetch(url, { method: 'POST', ...init });
    return { status: response.status, headers: response.headers, answer: await response.text() };
  } catch (error) {
    throw new NoAnswer(error);
  }
}

export async function read<T>(url: string): Promise<T> {
  const response = await fetch(url, { signal: AbortSignal.timeout(10_000) });
  if (!response.ok) throw new Error(`GET ${url} → HTTP ${response.status}`);
  return (await response.json()) as T;
}
