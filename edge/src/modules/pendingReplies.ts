/** Requests that await a reply, each of one module. */
export interface PendingReplies<T> {
  /** @param onReply called at most once */
  add(moduleId: string, requestId: string, onReply: (reply: T) => void): void;
  remove(moduleId: string, requestId: string): void;
  /** Returns false when this module has no such request, or the request already has its reply. */
  resolve(moduleId: string, requestId: string, reply: T): boolean;
}

export function createPendingReplies<T>(): PendingReplies<T> {
  const requests = new Map<string, (reply: T) => void>();
  // Neither module ids nor segments of topics contain a slash.
  const keyOf = (moduleId: string, requestId: string) => `${moduleId}/${requestId}`;
  return {
    add: (moduleId, requestId, onReply) => void requests.set(keyOf(moduleId, requestId), onReply),
    remove: (moduleId, requestId) => void requests.delete(keyOf(moduleId, requestId)),
    resolve(moduleId, requestId, reply) {
      const key = keyOf(moduleId, requestId);
      const onReply = requests.get(key);
      requests.delete(key);
      onReply?.(reply);
      return onReply !== undefined;
    },
  };
}
