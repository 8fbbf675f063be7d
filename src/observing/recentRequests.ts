/** How requests to a backend went in the last minutes, for operators. */
export interface RequestStatistics {
  /** Requests of the last five minutes, the latest thousand at most. */
  readonly count: number;
  /** The median of their durations; null when there were none. */
  readonly p50Ms: number | null;
  /** The 95th percentile of their durations; null when there were none. */
  readonly p95Ms: number | null;
  /** Age of the oldest request that is under way; 0 when none is. */
  readonly oldestMs: number;
}

interface OpenRequest {
  /** As `performance.now()`. */
  readonly since: number;
}

/** The latest durations, in constant room. */
export interface RecentRequests {
  begin(): OpenRequest;
  /** @returns the duration in ms */
  ended(request: OpenRequest): number;
  /** It ends without a result that counts. No effect when it has ended. */
  dropped(request: OpenRequest): void;
  underWay(): number;
  recent(): RequestStatistics;
}

const most = 1_024;
const withinMs = 5 * 60_000;

export function createRecentRequests(): RecentRequests {
  /** In the order of their beginning. */
  const underWay = new Set<OpenRequest>();
  const durations = new Float64Array(most);
  const ends = new Float64Array(most).fill(Number.NEGATIVE_INFINITY);
  let next = 0;

  return {
    begin() {
      const request = { since: performance.now() };
      underWay.add(request);
      return request;
    },
    ended(request) {
      const now = performance.now();
      const ms = now - request.since;
      underWay.delete(request);
      durations[next] = ms;
      ends[next] = now;
      next = (next + 1) % most;
      return ms;
    },
    dropped: (request) => void underWay.delete(request),
    underWay: () => underWay.size,
    recent() {
      const now = performance.now();
      const latest = durations.filter((_, index) => now - (ends[index] as number) <= withinMs).sort();
      const atShare = (share: number) => {
        const ms = latest[Math.ceil(share * latest.length) - 1];
        return ms === undefined ? null : Math.round(ms);
      };
      const [oldest] = underWay;
      return {
        count: latest.length,
        p50Ms: atShare(0.5),
        p95Ms: atShare(0.95),
        oldestMs: oldest === undefined ? 0 : Math.round(now - oldest.since),
      };
    },
  };
}
