import { randomUUID } from 'node:crypto';
import type { JournalEntry as BackendCall } from '../backends/journal.ts';
import type { JournalEntry as HubEntry } from '../hub/journal.ts';
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

export type MethodEntry = Extract<HubEntry, { kind: 'method' }>;

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

/** Calls the front door of a sandbox. Rejects when it does not answer at all. */
export async function callFrontDoor(state: SandboxState, request: Request, withinMs: number): Promise<Exchange> {
  const { objectId, model, method, token, body } = request;
  if (!state.methods) throw new Error('This sandbox was started without remote methods.');
  const path = ['objects', objectId, 'models', model, 'methods', method].map(encodeURIComponent).join('/');
  const url = `${state.methods.url}/${path}`;
  const correlationId = randomUUID();
  const { last } = await read<{ last: number }>(`${state.backends.adminUrl}/journal?since=${Number.MAX_SAFE_INTEGER}`);
  const began = performance.now();
  const response = await fetch(url, {
    method: 'POST',
    headers: {
      accept: 'application/json',
      'content-type': 'application/json',
      'x-correlation-id': correlationId,
      ...(token !== undefined && { authorization: `Bearer ${token}` }),
    },
    body,
    signal: AbortSignal.timeout(withinMs),
  });
  const answer = await response.text();
  const tookMs = performance.now() - began;
  const backends = await read<{ data: BackendCall[] }>(`${state.backends.adminUrl}/journal?since=${last}`);
  const hub = await read<{ entries: MethodEntry[] }>(`${state.hub.adminUrl}/journal?kind=method`);
  return {
    ...{ url, correlationId, status: response.status, headers: response.headers, answer, tookMs },
    calls: backends.data.filter(({ headers }) => headers['x-correlation-id'] === correlationId),
    direct: hub.entries.filter(({ payload }) => Object(JSON.parse(payload)).correlationId === correlationId),
  };
}

export async function read<T>(url: string): Promise<T> {
  const response = await fetch(url, { signal: AbortSignal.timeout(10_000) });
  if (!response.ok) throw new Error(`GET ${url} → HTTP ${response.status}`);
  return (await response.json()) as T;
}
