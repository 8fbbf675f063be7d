import { z } from 'zod';
import { isSegment } from '../protocol/fields.ts';
import { Rejection } from '../protocol/rejection.ts';
import type { Cache } from './cache.ts';
import { path } from './percentEncoding.ts';
import { type Call, type CallRequest, dataOf, membersOf, type Send } from './sending.ts';

export type Principal = z.infer<typeof principal>;

const principal = z.object({
  /** As long as an identifier (P5): it becomes a part of URLs. */
  id: z.string().max(256).refine(isSegment),
  identity: z.string(),
  /** The device's id, then the connectivity path (P5). */
  path: z.string(),
  parentId: z.string().nullish(),
});
const one = membersOf(principal);
/** Some servers refuse longer URLs, or break off the connection (P5). */
const maxUrlBytes = 8_192;

/** @param cacheMs how long a resolved identity is cached (B3) @param url base URL of the principal manager */
export function principalManager(send: Send, call: Call, cache: Cache<Principal>, cacheMs: number, url: string) {
  const { deviceId } = call;

  async function change(id: string, request: Omit<CallRequest<undefined>, 'path'>) {
    try {
      return await send({ ...request, path: path`/devices/${id}` });
    } finally {
      // All entries of the device: identities connected through the changed one may have another path, or be deleted.
      cache.forget(deviceId);
    }
  }

  return {
    /**
     * The identity below the device; undefined when there is none.
     * @param connectivityPath of the identity, or of its parent when `identity` is given; '' means the device itself
     * @param identity one name, with any characters (P5)
     * @throws Rejection validation_error when they are too long for a URL; before any call
     */
    resolve(connectivityPath: string, identity?: string): Promise<Principal | undefined> {
      return cache.get(call, JSON.stringify([connectivityPath, identity]), cacheMs, async () => {
        const query =
          path`/devices?device=${deviceId}` +
          (connectivityPath === '' ? '' : path`&path=${connectivityPath}`) +
          (identity === undefined ? '' : path`&identity=${identity}`);
        if (url.replace(/\/+$/, '').length + query.length > maxUrlBytes) throw tooLong(connectivityPath, identity);
        let found: Principal | undefined;
        const read = dataOf(one.keys, (element) => {
          if (found !== undefined) throw new TypeError('expected one identity at most');
          found = one.result(element);
        });
        await send({ operation: 'resolve identity', method: 'GET', path: query, read });
        return found;
      });
    },

    async updateIdentity(id: string, body: string): Promise<void> {
      await change(id, { operation: 'update identity', method: 'PUT', body });
    },

    /** A 404 is success after a lost response (B4), or when an earlier delivery may have deleted the identity (D10). @throws Refusal 404 */
    async deleteIdentity(id: string, mayBeGone: boolean): Promise<void> {
      const { refusal, lost } = await change(id, { operation: 'delete identity', method: 'DELETE', expect: [404] });
      if (refusal && !lost && !mayBeGone) throw refusal;
    },
  };
}

/** Only `owner` is resolved without an identity, but for the device itself. */
function tooLong(connectivityPath: string, identity: string | undefined): Rejection {
  let what = 'property parent and body.identity are together';
  if (identity === undefined) what = 'property owner is';
  else if (connectivityPath === '') what = 'body.identity is';
  const why = `${what} too long: the URL of a backend call would have more than ${maxUrlBytes} bytes`;
  return new Rejection('validation_error', why);
}
