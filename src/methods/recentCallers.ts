import { LRUCache } from 'lru-cache';

/** Which callers ask for invocations of a device, as far as the share of a caller depends on it (M14). */
export interface RecentCallers {
  /** Records that the caller asks. @returns whether another caller has asked recently */
  ask(device: string, caller: string): boolean;
}

interface CallerRequest {
  readonly caller: string;
  /** As `performance.now()`. */
  readonly at: number;
}

/** Of a device: the latest request, and the latest of any other caller. */
interface DeviceRequests {
  readonly latest: CallerRequest;
  readonly other: CallerRequest | undefined;
}

/** Long enough for a caller that was refused and asks again after `Retry-After`. */
const recentMs = 10_000;

/** About 300 bytes each. A device that is forgotten counts as not asked for. */
const mostDevices = 10_000;

export function createRecentCallers(): RecentCallers {
  const devices = new LRUCache<string, DeviceRequests>({ max: mostDevices });

  return {
    ask(device, caller) {
      const now = performance.now();
      const known = devices.get(device);
      const other = known?.latest.caller === caller ? known.other : known?.latest;
      devices.set(device, { latest: { caller, at: now }, other });
      return other !== undefined && now - other.at < recentMs;
    },
  };
}
