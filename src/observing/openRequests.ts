/** The requests to one backend that are under way. */
export interface OpenRequests {
  begin(): OpenRequest;
  /**
   * It may have ended before.
   * @returns its duration in ms
   */
  ended(request: OpenRequest): number;
  count(): number;
  /** Age of the oldest, in whole ms; 0 when none is under way. */
  oldestMs(): number;
}

interface OpenRequest {
  /** As `performance.now()`. */
  readonly since: number;
}

export function createOpenRequests(): OpenRequests {
  /** In the order of their beginning. */
  const underWay = new Set<OpenRequest>();

  return {
    begin() {
      const request = { since: performance.now() };
      underWay.add(request);
      return request;
    },
    ended(request) {
      underWay.delete(request);
      return performance.now() - request.since;
    },
    count: () => underWay.size,
    oldestMs() {
      const [oldest] = underWay;
      return oldest === undefined ? 0 : Math.round(performance.now() - oldest.since);
    },
  };
}
