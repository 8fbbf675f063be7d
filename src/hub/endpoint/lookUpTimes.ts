/** When the event endpoint is looked up again (D402). */
export interface LookUpTimes {
  /**
   * To be asked again and again.
   * @param isUnread some partition of this instance is not read, whatever the reason
   * @param eventAt when the last event came, as `performance.now()`
   */
  isDue(isUnread: boolean, eventAt: number): boolean;
  /** The hub is asked now. */
  asked(): void;
}

export interface LookUpLimits {
  /** A partition has not been read for this time: the client has tried again by itself. */
  readonly unreadMs: number;
  /** No event has come from any partition for this time: it can be the silence of a failover, which looks like idleness. */
  readonly eventlessMs: number;
}

/** Each of the two reasons asks no more often than its time says. */
export function createLookUpTimes({ unreadMs, eventlessMs }: LookUpLimits): LookUpTimes {
  let unreadSince: number | undefined;
  let askedAt = Number.NEGATIVE_INFINITY;

  return {
    isDue(isUnread, eventAt) {
      const now = performance.now();
      unreadSince = isUnread ? (unreadSince ?? now) : undefined;
      const sinceAsked = now - askedAt;
      const isLongUnread = unreadSince !== undefined && now - unreadSince >= unreadMs && sinceAsked >= unreadMs;
      return isLongUnread || (now - eventAt >= eventlessMs && sinceAsked >= eventlessMs);
    },
    asked() {
      askedAt = performance.now();
    },
  };
}
