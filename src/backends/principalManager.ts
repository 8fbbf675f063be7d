import { z } from 'zod';
import type { Operation } from '../metrics/declared/backends.ts';
import { isSegment } from '../protocol/fields.ts';
import { pickSmall } from '../protocol/json.ts';
import { keysOf } from '../protocol/jsonKeys.ts';
import type { Reading } from './answer.ts';
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
const members = principal.keyof().options;
const ofPrincipal = keysOf(members);
const ofList = keysOf(['data']);

/** `{"data":[…]}` with one identity or none. */
function oneOrNone(): Reading<Principal | undefined> {
  let found: Principal | undefined;
  return {
    keys: ofList,
    elements: {
      key: 'data',
      keys: ofPrincipal,
      take(element) {
        if (found !== undefined) throw new TypeError('expected one identity at most');
        found = principal.parse(pickSmall(element, members));
      },
    },
    result(answer) {
      if (!answer.members.has('data')) throw new TypeError('expected a list of data');
      return found;
    },
  };
}

export type PrincipalManager = ReturnType<typeof principalManager>;

/** @param cacheMs how long a resolved identity is cached (B3) */
export function principalManager(send: Send, call: Call, cache: Cache<Principal>, cacheMs: number) {
  const { deviceId } = call;

  async function change(request: { operation: Operation; method: 'PUT' | 'DELETE'; path: string; body?: string }) {
    try {
      return await send({ ...request, expect: request.method === 'DELETE' ? [404] : [] });
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
     */
    resolve(connectivityPath: string, identity?: string): Promise<Principal | undefined> {
      return cache.get(call, JSON.stringify([connectivityPath, identity]), cacheMs, async () => {
        const query =
          path`/devices?device=${deviceId}` +
          (connectivityPath === '' ? '' : path`&path=${connectivityPath}`) +
          (identity === undefined ? '' : path`&identity=${identity}`);
        return (await send({ operation: 'resolve identity', method: 'GET', path: query, read: oneOrNone() })).value;
      });
    },

    /** @param id of the principal */
    async updateIdentity(id: string, body: string): Promise<void> {
      await change({ operation: 'update identity', method: 'PUT', path: path`/devices/${id}`, body });
    },

    /**
     * Deletes an identity. A 404 after a lost response counts as success (B4).
     * @param mayBeGone a 404 counts as success, because an earlier delivery may have deleted it (D10)
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
