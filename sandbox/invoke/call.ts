import { randomUUID } from 'node:crypto';
import type { EntryOf } from '../../iot-hub-emulator/src/journal/entry.ts';
import { type BackendCall, type CallEntry, callsIn } from '../backends/calls/calls.ts';
import type { MethodsState, SandboxState } from '../state/state.ts';

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

/** One call of the front door: its answer, and the calls it made for it. */
export interface FrontDoorExchange {
  url: string;
  correlationId: string;
  status: number;
  headers: Headers;
  /** The answer's text. */
  answer: string;
  tookMs: number;
  /** What the front door asked the backends. */
  calls: BackendCall[];
  /** The direct methods that the hub called for it, with their results. */
  direct: MethodEntry[];
}

/** The front door did not answer. If it took the connection, the method may have run. */
export class NoAnswer extends Error {
  override name = 'NoAnswer';
  readonly wasAsked: boolean;

  constructor(url: string, cause: unknown) {
    const inner = cause instanceof Error && cause.cause instanceof Error ? cause.cause : cause;
    super(`The front door does not answer at ${url}: ${inner instanceof Error ? inner.message : inner}`, { cause });
    this.wasAsked = !(inner instanceof Error && 'code' in inner && inner.code === 'ECONNREFUSED');
  }
}

/** The remote methods of a sandbox. Throws when it runs without. */
export function methodsOf({ methods }: SandboxState): MethodsState {
  if (methods) return methods;
  throw new Error('This sandbox runs without remote methods. Start another one with: npm run sandbox');
}

/** Calls the front door of a sandbox. Rejects with `NoAnswer` when it does not answer at all. */
export async function callFrontDoor(
  state: SandboxState,
  request: Request,
  withinMs: number,
): Promise<FrontDoorExchange> {
  const { objectId, model, method, token, body } = request;
  const path = ['objects', objectId, 'models', model, 'methods', method].map(encodeURIComponent).join('/');
  const url = `${methodsOf(state).url}/${path}`;
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

async function post(url: string, init: RequestInit): Promise<Pick<FrontDoorExchange, 'status' | 'headers' | 'answer'>> {
  try {
    const response = await fetch(url, { method: 'POST', ...init });
    return { status: response.status, headers: response.headers, answer: await response.text() };
  } catch (error) {
    throw new NoAnswer(url, error);
  }
}

export async function read<T>(url: string): Promise<T> {
  const response = await fetch(url, { signal: AbortSignal.timeout(10_000) });
  if (!response.ok) throw new Error(`GET ${url} → HTTP ${response.status}`);
  return (await response.json()) as T;
}
