import { LRUCache } from 'lru-cache';
import type { invocationLimits, mostBodies } from '../settings/constants.ts';
import { Failure } from './failure.ts';

/** Of authorized invocations in progress, and of bodies that are being received. */
type Limits = typeof invocationLimits & { readonly bodies: typeof mostBodies };
/** Requests that may wait for authorization, for each invocation: so wrong tokens keep no authorized caller out (D44). */
const lookUpsPerInvocation = 4;
export type ConcurrencyLimits = ReturnType<typeof createConcurrencyLimits>;

/** Limits the requests in progress (M8, M14). Each function takes a place and returns its release. @throws Failure overloaded: each of them */
export function createConcurrencyLimits({ inFlight, inFlightPerDevice, bodies }: Limits) {
  const lookUps = createCounts();
  const receiving = createCounts();
  const invocations = createCounts();
  const shares = createCounts();
  const othersAsk = createRecentCallers();
  const greatestShare = Math.max(1, inFlightPerDevice - 1);

  return {
    /** Before the request is authorized. @param isKnown its token was accepted lately; such requests have places of their own */
    acquireLookUp(isKnown: boolean): () => void {
      const places = isKnown ? 'known' : 'other';
      if (lookUps.of(places) >= lookUpsPerInvocation * inFlight) {
        throw overloaded('the front door has too many requests in progress; repeat it later');
      }
      return lookUps.add(places);
    },
    acquireBody(caller: string): () => void {
      if (receiving.of(caller) >= bodies.ofCaller) {
        throw overloaded(`the caller sends ${bodies.ofCaller} bodies at once, which is the limit; repeat it later`);
      }
      if (receiving.all() >= bodies.inAll) {
        throw overloaded('the front door receives too many bodies at once; repeat it later');
      }
      return receiving.add(caller);
    },
    acquireInvocation(device: string, caller: string): () => void {
      const isAskedByOthers = othersAsk(device, caller);
      const share = `${device}/${caller}`;
      const ofDevice = invocations.of(device);
      if (ofDevice >= inFlightPerDevice) {
        throw overloaded(`the device has ${ofDevice} invocations in progress, which is its limit; repeat it later`);
      }
      if (isAskedByOthers && shares.of(share) >= greatestShare) {
        throw overloaded(
          `the caller has ${shares.of(share)} invocations of the device in progress, which is its limit while others ask; repeat it later`,
        );
      }
      if (invocations.all() >= inFlight) {
        throw overloaded('the front door has too many invocations in progress; repeat it later');
      }
      const [ofAll, ofShare] = [invocations.add(device), shares.add(share)];
      return () => {
        ofAll();
        ofShare();
      };
    },
  };
}

const overloaded = (detail: string) => new Failure('overloaded', detail);

function createCounts() {
  const byKey = new Map<string, number>();
  let all = 0;

  return {
    all: () => all,
    of: (key: string) => byKey.get(key) ?? 0,
    /** Returns the removal, which counts once. */
    add(key: string): () => void {
      all += 1;
      byKey.set(key, (byKey.get(key) ?? 0) + 1);
      let isRemoved = false;
      return () => {
        if (isRemoved) return;
        isRemoved = true;
        all -= 1;
        const left = (byKey.get(key) ?? 1) - 1;
        if (left === 0) byKey.delete(key);
        else byKey.set(key, left);
      };
    },
  };
}

/** Long enough for a caller that was refused and asks again after `Retry-After`. */
const recentMs = 10_000;
/** About 300 bytes each. A device that is forgotten counts as not asked for. */
const mostDevices = 10_000;

/** Records that a caller asks for a device. @returns whether another caller has asked recently (M14) */
function createRecentCallers(): (device: string, caller: string) => boolean {
  /** The latest request for each, and when the latest of any other caller came; as `performance.now()`. */
  const devices = new LRUCache<string, { caller: string; at: number; otherAt: number }>({ max: mostDevices });

  return (device, caller) => {
    const now = performance.now();
    const known = devices.get(device);
    const otherAt = (known?.caller === caller ? known.otherAt : known?.at) ?? Number.NEGATIVE_INFINITY;
    devices.set(device, { caller, at: now, otherAt });
    return now - otherAt < recentMs;
  };
}

/** Tokens that the information model has recently accepted, as hashes: their requests are looked up before others, which gives no right (M14). */
export const createAcceptedTokens = () =>
  new LRUCache<string, true>({ max: 10_000, ttl: 600_000, ttlResolution: 0, perf: performance });
