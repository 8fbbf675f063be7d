import { Axios, type AxiosAdapter } from 'axios';
import { z } from 'zod';
import type { CallCourse, Calls } from '../observing/calls.ts';
import type { Course } from '../observing/course.ts';
import { isGuid } from '../protocol/fields.ts';
import { pickSmall } from '../protocol/json.ts';
import { keysOf } from '../protocol/jsonKeys.ts';
import { type Reading, readAnswer } from './answer.ts';
import { plainRetryAfter } from './backOff.ts';
import type { Connections } from './bulkhead.ts';
import type { Circuit } from './circuit.ts';
import type { Deadline } from './deadline.ts';
import { headerValue } from './headers.ts';
import { path } from './path.ts';
import type { Redact } from './redaction.ts';
import { refusalOf } from './refusal.ts';
import { createSemaphore } from './semaphore.ts';
import { isOutage, isPassing } from './status.ts';
import { TransportFailure } from './transport.ts';

/** The members of an object model that an invocation needs. */
export interface InvocableObject {
  /** As the information model spells it: a caller may use other capital letters. */
  readonly objectId: string;
  readonly type: string;
  /** Device id and connectivity path; undefined when the object has no owner (P5). */
  readonly path: string | undefined;
}

export type ObjectResult =
  | { readonly kind: 'object'; readonly object: InvocableObject }
  | { readonly kind: 'refused'; readonly status: 401 | 403 | 404; readonly detail: string }
  | {
      readonly kind: 'unavailable';
      /** Completes the sentence `the information model …`. */
      readonly problem: string;
      /** As the information model said it: seconds or an HTTP date. */
      readonly retryAfter: string | undefined;
    };

interface CallerContext {
  readonly token: string;
  /** The information model accepted the token lately: it waits for a connection before others. */
  readonly isKnown: boolean;
  readonly correlationId: string;
  /** The look-up is recorded in it, and belongs to its trace. */
  readonly course: Course;
  readonly deadline: Deadline;
}

export interface ObjectReader {
  /** Reads an object model with the caller's token. */
  readObject(objectId: string, model: string, caller: CallerContext): Promise<ObjectResult>;
  connections(): Connections;
}

interface ObjectReaderOptions {
  readonly adapter: AxiosAdapter;
  readonly circuit: Circuit;
  readonly redact: Redact;
  /** Takes our host names out of a text. */
  readonly hideHosts: (text: string) => string;
  readonly calls: Pick<Calls, 'begin'>;
  readonly maxAnswerBytes: number;
  readonly attemptTimeoutMs: number;
  readonly connections: number;
}

const name = 'information model';
const lookUp = { operation: 'read object model', method: 'GET', expect: [401, 403, 404] } as const;
const objectModel = z.object({
  objectId: z.string().refine(isGuid),
  model: z.string(),
  type: z.string(),
  path: z.string().nullish(),
});
const members = objectModel.keyof().options;
const reading: Reading<z.infer<typeof objectModel> | undefined> = {
  keys: keysOf(members),
  result: (answer) => objectModel.safeParse(pickSmall(answer, members)).data,
};

/**
 * Reads once, without retries or cache (M2). Error responses do not count for the circuit, because callers could open it
 * with them. Failed connections count; a time-out starts a probe (D45).
 */
export function createObjectReader(options: ObjectReaderOptions): ObjectReader {
  const { adapter, circuit, redact, hideHosts, calls, maxAnswerBytes, attemptTimeoutMs } = options;
  const axios = new Axios({ maxContentLength: maxAnswerBytes, adapter });
  const semaphore = createSemaphore(options.connections);

  async function request(
    objectId: string,
    model: string,
    caller: CallerContext,
    recorded: CallCourse,
  ): Promise<ObjectResult> {
    const timeoutMs = Math.min(attemptTimeoutMs, caller.deadline.remaining());
    recorded.sends();
    const sent = axios.request<Buffer>({
      method: lookUp.method,
      url: pathOf(objectId, model),
      timeout: Math.max(1, timeoutMs),
      headers: {
        authorization: `Bearer ${caller.token}`,
        'x-svc-operation': 'invoke',
        'x-correlation-id': headerValue(caller.correlationId),
        traceparent: recorded.traceparent,
      },
    });
    const { status, data, headers } = await sent.catch((error: unknown) => {
      if (error instanceof TransportFailure) recorded.attempted(error, true);
      throw error;
    });
    recorded.attempted({ status, data, token: caller.token }, isPassing(status));
    if (status === 200) {
      circuit.succeeded();
      return await readObject(data, objectId, model);
    }
    if (status === 401 || status === 403 || status === 404) {
      const redacted = (text: string) => hideHosts(redact(text, caller.token));
      const { details } = refusalOf(`${name}: ${lookUp.operation}`, status, data, redacted);
      return { kind: 'refused', status, detail: details };
    }
    const isExpected = isPassing(status) || isOutage(status);
    const problem = `responded${isExpected ? '' : ' unexpectedly'} with HTTP ${status}`;
    return unavailable(problem, plainRetryAfter(headers['retry-after'] as string | undefined));
  }

  async function readObject(data: Buffer, objectId: string, model: string): Promise<ObjectResult> {
    const invalid = unavailable('sent a response that is not the object model');
    try {
      const found = await readAnswer(data, reading);
      if (found?.objectId.toLowerCase() !== objectId.toLowerCase() || found.model !== model) return invalid;
      return { kind: 'object', object: { ...found, path: found.path || undefined } };
    } catch {
      return invalid;
    }
  }

  async function inTurn(
    objectId: string,
    model: string,
    caller: CallerContext,
    recorded: CallCourse,
  ): Promise<ObjectResult> {
    if (!semaphore.tryAcquire()) {
      await semaphore.acquire(caller.deadline, `a free connection to the ${name}`, caller.isKnown);
    }
    try {
      // The circuit may have opened while this request waited for a connection.
      if (circuit.state() === 'open') return unavailable('is unavailable');
      return await request(objectId, model, caller, recorded);
    } catch (error) {
      if (!(error instanceof TransportFailure)) throw error;
      if (error.fault === 'no answer in time') circuit.doubt(error.fault);
      else if (error.fault !== 'answer too large') circuit.failed(objectId, error.fault);
      return unavailable(
        error.fault === 'answer too large' ? 'sent a response that is too large' : `did not respond: ${error.fault}`,
      );
    } finally {
      semaphore.release();
    }
  }

  async function readObjectForCaller(objectId: string, model: string, caller: CallerContext): Promise<ObjectResult> {
    if (circuit.state() === 'open') return unavailable('is unavailable');
    const recorded = calls.begin(caller.course, { ...lookUp, path: pathOf(objectId, model) });
    try {
      return await inTurn(objectId, model, caller, recorded);
    } catch (error) {
      recorded.failed(error);
      throw error;
    } finally {
      recorded.ended();
    }
  }

  return {
    readObject: readObjectForCaller,
    connections: () => ({ inUse: semaphore.inUse(), waiting: semaphore.waiting() }),
  };
}

const pathOf = (objectId: string, model: string) => path`/objects/${objectId}/models/${model}`;

const unavailable = (problem: string, retryAfter?: string): ObjectResult => ({
  kind: 'unavailable',
  problem,
  retryAfter,
});
