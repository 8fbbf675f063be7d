/** Requests that await a reply, each on the topic of its module. */
export interface PendingReplies<T> {
  /** @param onReply called at most once */
  add(topic: string, requestId: string, onReply: (reply: T) => void): void;
  remove(topic: string, requestId: string): void;
  /** Returns false when no such request awaits a reply on this topic, or the request already has its reply. */
  resolve(topic: string, requestId: string, reply: T): boolean;
}

export function createPendingReplies<T>(): PendingReplies<T> {
  const requests = new Map<string, (reply: T) => void>();
  // A request id contains no slash.
  const keyOf = (topic: string, requestId: string) => `${topic}/${requestId}`;
  return {
    add: (topic, requestId, onReply) => void requests.set(keyOf(topic, requestId), onReply),
    remove: (topic, requestId) => void requests.delete(keyOf(topic, requestId)),
    resolve(topic, requestId, reply) {
      const key = keyOf(topic, requestId);
      const onReply = requests.get(key);
      requests.delete(key);
      onReply?.(reply);
      return onReply !== undefined;
    },
  };
}
