/** Requests that wait for their reply, each of one module. */
export interface Waiting<T> {
  /** @param resolve called at most once */
  add(moduleId: string, requestId: string, resolve: (reply: T) => void): void;
  /** No reply is wanted any more. */
  remove(moduleId: string, requestId: string): void;
  /** Hands over a reply; false when that module has no such request, or has been answered. */
  reply(moduleId: string, requestId: string, reply: T): boolean;
  readonly size: number;
}

export function createWaiting<T>(): Waiting<T> {
  const requests = new Map<string, (reply: T) => void>();
  // Neither a module's id nor a topic's segment has a slash.
  const keyOf = (moduleId: string, requestId: string) => `${moduleId}/${requestId}`;
  return {
    add: (moduleId, requestId, resolve) => void requests.set(keyOf(moduleId, requestId), resolve),
    remove: (moduleId, requestId) => void requests.delete(keyOf(moduleId, requestId)),
    reply(moduleId, requestId, reply) {
      const key = keyOf(moduleId, requestId);
      const resolve = requests.get(key);
      requests.delete(key);
      resolve?.(reply);
      return resolve !== undefined;
    },
    get size() {
      return requests.size;
    },
  };
}
