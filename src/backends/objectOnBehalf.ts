import { z } from 'zod';
import { isGuid } from '../protocol/fields.ts';
import { path } from './percentEncoding.ts';
import { isOutage, isPassing, plainRetryAfter } from './retryPolicy.ts';
import { type Caller, membersOf, readAnswer, type SendAsCaller } from './sending.ts';
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
  | { readonly kind: 'refused'; readonly status: 401 | 403 | 404 }
  | {
      readonly kind: 'unavailable';
      /** Completes the sentence `the information model …`. */
      readonly problem: string;
      /** As the information model said it: seconds or an HTTP date. */
      readonly retryAfter: string | undefined;
    };

const lookUp = { operation: 'read object model', method: 'GET', expect: [401, 403, 404] } as const;
const objectModel = membersOf(
  z.object({ objectId: z.string().refine(isGuid), model: z.string(), type: z.string(), path: z.string().nullish() }),
);

/**
 * Reads an object model with the token of a caller: once, and never from a cache (M2, D45).
 * @param send to the information model
 */
export const createObjectReader =
  (send: SendAsCaller) =>
  async (objectId: string, model: string, caller: Caller): Promise<ObjectResult> => {
    const response = await send({ ...lookUp, path: path`/objects/${objectId}/models/${model}` }, caller);
    if (response === undefined) return unavailable('is unavailable');
    if (response instanceof TransportFailure) {
      const isTooLarge = response.fault === 'answer too large';
      return unavailable(isTooLarge ? 'sent a response that is too large' : `did not respond: ${response.fault}`);
    }
    const { status, data, retryAfter, release } = response;
    if (status === 200) return await objectIn(data, objectId, model).finally(release);
    if (status === 401 || status === 403 || status === 404) return { kind: 'refused', status };
    const isExpected = isPassing(status) || isOutage(status);
    const problem = `responded${isExpected ? '' : ' unexpectedly'} with HTTP ${status}`;
    return unavailable(problem, plainRetryAfter(retryAfter));
  };

async function objectIn(data: Buffer, objectId: string, model: string): Promise<ObjectResult> {
  const found = await readAnswer(data, objectModel).catch(() => undefined);
  if (found?.objectId.toLowerCase() !== objectId.toLowerCase() || found.model !== model)
    return unavailable('sent a response that is not the object model');
  return { kind: 'object', object: { ...found, path: found.path || undefined } };
}

const unavailable = (problem: string, retryAfter?: string): ObjectResult => ({
  kind: 'unavailable',
  problem,
  retryAfter,
});
