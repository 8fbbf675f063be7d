import { z } from 'zod';
import type { Observation } from '../observing/observation.ts';
import { isGuid } from '../protocol/fields.ts';
import type { Backend } from './backend.ts';
import type { Deadline } from './deadline.ts';
import { headerValue, path } from './percentEncoding.ts';
import { isPassing, plainRetryAfter } from './retryPolicy.ts';
import { membersOf, readAnswer } from './sending.ts';
import { staticToken } from './tokens.ts';
import { TransportFailure } from './transport.ts';

/** What an invocation needs, as the information model spells it; `path` is undefined when the object has no owner (P5). */
export type InvocableObject = Readonly<Record<'objectId' | 'type', string> & { path: string | undefined }>;

export type ObjectResult =
  | { readonly kind: 'object'; readonly object: InvocableObject }
  | { readonly kind: 'refused'; readonly status: 401 | 403 | 404 }
  /** `problem` completes the sentence `the information model …`; `retryAfter`, as it was said, is seconds or an HTTP date. */
  | { readonly kind: 'unavailable'; readonly problem: string; readonly retryAfter: string | undefined };

/** `isKnown`: the backend has recently accepted the token, so that the call waits for a connection before others (M14). */
type Caller = Readonly<{
  token: string;
  isKnown: boolean;
  correlationId: string;
  observation: Observation;
  deadline: Deadline;
}>;

const objectModel = membersOf(
  z.object({ objectId: z.string().refine(isGuid), model: z.string(), type: z.string(), path: z.string().nullish() }),
);

/** Reads an object model with the token of a caller: once, never from a cache, and on the connections of the service's own calls (M2, D45). */
export function createObjectReader(backend: Backend) {
  const { name, attemptTimeoutMs, attempt, recordOutcomeForCaller, calls, bulkhead, circuit } = backend;
  const isOut = () => circuit.state() === 'open';

  /** Undefined while the circuit is open. */
  async function send(path: string, { token, isKnown, correlationId, observation, deadline }: Caller) {
    if (isOut()) return undefined;
    const recorded = calls.begin(observation, { operation: 'read object model', method: 'GET', path });
    const source = staticToken(token);
    const headers = {
      'x-svc-operation': 'invoke',
      'x-correlation-id': headerValue(correlationId),
      traceparent: recorded.traceparent,
    };
    try {
      await bulkhead.enterAsCaller(deadline, `the ${name}`, isKnown);
      try {
        if (isOut()) return undefined; // it may have opened during the wait
        const timeoutMs = Math.max(1, Math.min(attemptTimeoutMs, deadline.remaining()));
        recorded.sends();
        const response = await attempt({ method: 'GET', path, headers }, token, timeoutMs, deadline, source);
        recorded.attempted(response, response instanceof TransportFailure || isPassing(response.status));
        recordOutcomeForCaller(response);
        return response;
      } finally {
        bulkhead.leaveAsCaller();
      }
    } catch (error) {
      recorded.failed(error);
      throw error;
    } finally {
      recorded.ended();
    }
  }

  /** @throws Rejection timeout_exceeded, Cancelled */
  return async (objectId: string, model: string, caller: Caller): Promise<ObjectResult> => {
    const response = await send(path`/objects/${objectId}/models/${model}`, caller);
    if (response === undefined) return unavailable('is unavailable');
    if (response instanceof TransportFailure) {
      const isTooLarge = response.fault === 'answer too large';
      return unavailable(isTooLarge ? 'sent a response that is too large' : `did not respond: ${response.fault}`);
    }
    const { status, retryAfter } = response;
    if (status === 200) {
      const found = await readAnswer(response.data, objectModel)
        .catch(() => undefined)
        .finally(response.release);
      if (found?.objectId.toLowerCase() === objectId.toLowerCase() && found.model === model)
        return { kind: 'object', object: { ...found, path: found.path || undefined } };
      return unavailable('sent a response that is not the object model');
    }
    response.release?.();
    if (status === 401 || status === 403 || status === 404) return { kind: 'refused', status };
    const problem = `responded${isPassing(status) ? '' : ' unexpectedly'} with HTTP ${status}`;
    return unavailable(problem, plainRetryAfter(retryAfter));
  };
}

const unavailable = (problem: string, retryAfter?: string) => ({ kind: 'unavailable', problem, retryAfter }) as const;
