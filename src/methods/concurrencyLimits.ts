import { Failure } from './failure.ts';
import { createRecentCallers } from './recentCallers.ts';

interface Limits {
  /** Authorized invocations in progress. */
  readonly inFlight: number;
  readonly inFlightPerDevice: number;
  /** Bodies of authorized callers that are being received. */
  readonly bodies: { readonly inAll: number; readonly ofCaller: number };
}

/** Limits the requests in progress. Each function returns its release (M8). */
export interface ConcurrencyLimits {
  /**
   * For a request before the information model has authorized it.
   * @param isKnown its token was accepted lately; such requests have places of their own
   * @throws Failure overloaded
   */
  acquireLookUp(isKnown: boolean): () => void;
  /**
   * For a body that has not arrived yet.
   * @throws Failure overloaded
   */
  acquireBody(caller: string): () => void;
  /**
   * For an authorized invocation.
   * @throws Failure overloaded
   */
  acquireInvocation(device: string, caller: string): () => void;
}

/** Requests that may wait for authorization, for each invocation: so wrong tokens keep no authorized caller out (D44). */
const lookUpsPerInvocation = 4;

export function createConcurrencyLimits({ inFlight, inFlightPerDevice, bodies }: Limits): ConcurrencyLimits {
  const lookUps = createCounts();
  const receiving = createCounts();
  const invocations = createCounts();
  const shares = createCounts();
  const asking = createRecentCallers();
  const greatestShare = Math.max(1, inFlightPerDevice - 1);

  return {
    acquireLookUp(isKnown) {
      const places = isKnown ? 'known' : 'other';
      if (lookUps.of(places) >= lookUpsPerInvocation * inFlight) {
        throw overloaded('the front door has too many requests in progress; repeat it later');
      }
      return lookUps.add(places);
    },
    acquireBody(caller) {
      if (receiving.of(caller) >= bodies.ofCaller) {
        throw overloaded(`the caller sends ${bodies.ofCaller} bodies at once, which is the limit; repeat it later`);
      }
      if (receiving.all() >= bodies.inAll) {
        throw overloaded('the front door receives too many bodies at once; repeat it later');
      }
      return receiving.add(caller);
    },
    acquireInvocation(device, caller) {
      const othersAsk = asking.ask(device, caller);
      const share = `${device}/${caller}`;
      const ofDevice = invocations.of(device);
      if (ofDevice >= inFlightPerDevice) {
        throw overloaded(`the device has ${ofDevice} invocations in progress, which is its limit; repeat it later`);
      }
      if (othersAsk && shares.of(share) >= greatestShare) {
        throw overloaded(
          `the caller has ${shares.of(share)} invocations of the device in progress, which is its limit while others ask; repeat it later`,
        );
      }
      if (invocations.all() >= inFlight) {
        throw overloaded('the front door has too many invocations in progress; repeat it later');
      }
      const releases = [invocations.add(device), shares.add(share)];
      return () => {
        for (const release of releases) release();
      };
    },
  };
}

const overloaded = (detail: string) => new Failure('overloaded', detail);

/** Numbers of what is in progress, by key. */
function createCounts() {
  const byKey = new Map<string, number>();
  let all = 0;

  function remove(key: string) {
    all -= 1;
    const left = (byKey.get(key) ?? 1) - 1;
    if (left === 0) byKey.delete(key);
    else byKey.set(key, left);
  }

  return {
    all: () => all,
    of: (key: string) => byKey.get(key) ?? 0,
    /** Returns the removal, which counts once. */
    add(key: string): () => void {
      all += 1;
      byKey.set(key, (byKey.get(key) ?? 0) + 1);
      return once(() => remove(key));
    },
  };
}

function once(release: () => void): () => void {
  let isReleased = false;
  return () => {
    if (!isReleased) release();
    isReleased = true;
  };
}
