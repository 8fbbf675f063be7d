import { Axios, type AxiosAdapter } from 'axios';
import { z } from 'zod';
import { isGuid } from '../protocol/fields.ts';
import { answerLimits, pick, readJson } from '../protocol/json.ts';
import { allKeys } from '../protocol/jsonKeys.ts';
import type { Circuit } from './circuit.ts';
import type { Deadline } from './deadline.ts';
import { headerValue } from './headers.ts';
import { path } from './path.ts';
import type { Redact } from './redaction.ts';
import { refusalOf } from './refusal.ts';
import { createSlots } from './slots.ts';
import { isOutage, isPassing } from './status.ts';
import { TransportFailure } from './transport.ts';

/** As much of an object model as an invocation needs. */
export interface Invocable {
  readonly type: string;
  /** Device id, then the connectivity path; undefined when nobody owns it (P5). */
  readonly path: string | undefined;
}

/** What the information model answers to an application (M2). */
export type CallersAnswer =
  | { readonly kind: 'object'; readonly object: Invocable }
  /** Of its own free will: the caller's token, the caller's rights, or nothing there. */
  | { readonly kind: 'refused'; readonly status: 401 | 403 | 404; readonly words: string }
  /** It does not answer, or not sensibly; `why` in words without an address. */
  | { readonly kind: 'out'; readonly why: string };

interface Caller {
  readonly token: string;
  readonly correlationId: string;
  readonly traceparent: string;
  readonly deadline: Deadline;
}

/** The information model as applications see it, each with its own token. */
export type CallersModel = (objectId: string, model: string, caller: Caller) => Promise<CallersAnswer>;

interface CallersModelOptions {
  readonly adapter: AxiosAdapter;
  readonly circuit: Circuit;
  readonly redact: Redact;
  readonly maxAnswerBytes: number;
  readonly attemptTimeoutMs: number;
  readonly connections: number;
}

const name = 'information model';
const stored = z.object({
  objectId: z.string().refine(isGuid),
  model: z.string(),
  type: z.string(),
  path: z.string().nullish(),
});

/**
 * Reads an object model for the one who wants to invoke, with nothing but that one's token, once and never from memory
 * (M2). No answer to it counts for the circuit, for callers could open it as they like;
 * a connection that fails does, and after a time-out the information model is asked itself.
 */
export function createCallersModel(options: CallersModelOptions): CallersModel {
  const { adapter, circuit, redact, maxAnswerBytes, attemptTimeoutMs } = options;
  const axios = new Axios({ maxContentLength: maxAnswerBytes, adapter });
  const slots = createSlots(options.connections);

  async function ask(objectId: string, model: string, caller: Caller): Promise<CallersAnswer> {
    const timeoutMs = Math.min(attemptTimeoutMs, caller.deadline.remaining());
    const { status, data } = await axios.request<Buffer>({
      method: 'GET',
      url: path`/objects/${objectId}/models/${model}`,
      timeout: Math.max(1, timeoutMs),
      headers: {
        authorization: `Bearer ${caller.token}`,
        'x-svc-operation': 'invoke',
        'x-correlation-id': headerValue(caller.correlationId),
        traceparent: headerValue(caller.traceparent),
      },
    });
    if (status === 200) {
      circuit.succeeded();
      return objectIn(data, objectId, model);
    }
    if (status === 401 || status === 403 || status === 404) {
      const redacted = (words: string) => redact(words, caller.token);
      return {
        kind: 'refused',
        status,
        words: refusalOf(`${name}: read object model`, status, data, redacted).details,
      };
    }
    const why = isPassing(status) || isOutage(status) ? 'answers' : 'answers unexpectedly,';
    return { kind: 'out', why: `${why} with HTTP ${status}` };
  }

  function objectIn(data: Buffer, objectId: string, model: string): CallersAnswer {
    const lie: CallersAnswer = { kind: 'out', why: 'answers with something that is not the object model' };
    try {
      const answer = readJson(data, allKeys, answerLimits);
      const found = stored.safeParse(pick(answer, ['objectId', 'model', 'type', 'path'])).data;
      if (found?.objectId.toLowerCase() !== objectId.toLowerCase() || found.model !== model) return lie;
      return { kind: 'object', object: { type: found.type, path: found.path || undefined } };
    } catch {
      return lie;
    }
  }

  return async (objectId, model, caller) => {
    const out = (why: string): CallersAnswer => ({ kind: 'out', why });
    if (circuit.state() === 'open') return out('is out');
    if (!slots.take()) await slots.turn(caller.deadline, `a free connection to the ${name}`);
    try {
      // It may have gone out while this one waited.
      return circuit.state() === 'open' ? out('is out') : await ask(objectId, model, caller);
    } catch (error) {
      if (!(error instanceof TransportFailure)) throw error;
      if (error.fault === 'no answer in time') circuit.doubt(error.fault);
      else if (error.fault !== 'answer too large') circuit.failed(objectId, error.fault);
      return out(error.fault === 'answer too large' ? 'answers with too much' : `gives no answer: ${error.fault}`);
    } finally {
      slots.release();
    }
  };
}
