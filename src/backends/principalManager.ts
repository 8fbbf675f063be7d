import { z } from 'zod';
import { isSegment } from '../protocol/fields.ts';
import type { Cache } from './cache.ts';
import type { Call, Send } from './call.ts';
import { path } from './path.ts';

/** An identity of a device, or of one connected through it. */
export type Principal = z.infer<typeof principal>;

const principal = z.object({
  id: z.string().refine(isSegment),
  identity: z.string(),
  /** The device's id, then the connectivity path (P5). */
  path: z.string(),
  parentId: z.string().nullish(),
});
const oneOrNone = z.object({ data: z.array(principal).max(1) });

export type PrincipalManager = ReturnType<typeof principalManager>;

/** @param cacheMs how long a resolved identity is taken for granted (B3) */
export function principalManager(send: Send, call: Call, cache: Cache<Principal>, cacheMs: number) {
  const { deviceId } = call;

  async function change(request: { operation: string; method: 'PUT' | 'DELETE'; path: string; body?: string }) {
    try {
      return await send({ ...request, expect: request.method === 'DELETE' ? [404] : [] });
    } finally {
      // All of the device's: what is connected through a changed identity is found under another path, or not at all.
      cache.forget(deviceId);
    }
  }

  return {
    /**
     * The identity below the device; undefined when there is none.
     * @param connectivityPath of the identity, or of its parent when `identity` is given; '' is the device itself
     * @param identity one name, whatever it contains (P5)
     */
    resolve(connectivityPath: string, identity?: string): Promise<Principal | undefined> {
      return cache.get(call, JSON.stringify([connectivityPath, identity]), cacheMs, async () => {
        const query =
          path`/devices?device=${deviceId}` +
          (connectivityPath === '' ? '' : path`&path=${connectivityPath}`) +
          (identity === undefined ? '' : path`&identity=${identity}`);
        const { value = [] } = await send({
          operation: 'resolve identity',
          method: 'GET',
          path: query,
          read: ({ value }) => oneOrNone.parse(value).data,
        });
        return value[0];
      });
    },

    /** @param id of the principal */
    async updateIdentity(id: string, body: string): Promise<void> {
      await change({ operation: 'update identity', method: 'PUT', path: path`/devices/${id}`, body });
    },

    /**
     * Deletes an identity. Gone after a lost answer: it was our own work (B4).
     * @param mayBeGone it may have been our own work in an earlier delivery, too (D10)
     * @throws Refusal 404
     */
    async deleteIdentity(id: string, mayBeGone: boolean): Promise<void> {
      const { refusal, lost } = await change({
        operation: 'delete identity',
        method: 'DELETE',
        path: path`/devices/${id}`,
      });
      if (refusal && !lost && !mayBeGone) throw refusal;
    },
  };
}
