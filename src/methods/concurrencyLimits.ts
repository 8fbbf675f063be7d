import { Failure } from './failure.ts';

interface Limits {
  /** Authorized invocations in progress. */
  readonly inFlight: number;
  readonly inFlightPerDevice: number;
}

/** Limits the requests in progress. Each function returns its release (M8). */
export interface ConcurrencyLimits {
  /**
   * For a request before the information model has authorized it.
   * @throws Failure overloaded
   */
  acquireLookUp(): () => void;
  /**
   * For an authorized invocation.
   * @throws Failure overloaded
   */
  acquireInvocation(device: string): () => void;
}

/** Requests that may wait for authorization, for each invocation: so wrong tokens keep no authorized caller out (D44). */
const lookUpsPerInvocation = 4;

export function createConcurrencyLimits({ inFlight, inFlightPerDevice }: Limits): ConcurrencyLimits {
  const perDevice = new Map<string, number>();
  let lookUps = 0;
  let invocations = 0;
  const overloaded = (detail: string) => new Failure('overloaded', detail, { retryAfter: 1 });

  return {
    acquireLookUp() {
      if (lookUps >= lookUpsPerInvocation * inFlight) {
        throw overloaded('the front door has too many requests in progress; repeat it later');
      }
      lookUps += 1;
      return once(() => {
        lookUps -= 1;
      });
    },
    acquireInvocation(device) {
      const ofDevice = perDevice.get(device) ?? 0;
      if (ofDevice >= inFlightPerDevice) {
        throw overloaded(`the device has ${ofDevice} invocations in progress, which is its limit; repeat it later`);
      }
      if (invocations >= inFlight) {
        throw overloaded('the front door has too many invocations in progress; repeat it later');
      }
      invocations += 1;
      perDevice.set(device, ofDevice + 1);
      return once(() => {
        invocations -= 1;
        const remaining = (perDevice.get(device) ?? 1) - 1;
        if (remaining === 0) perDevice.delete(device);
        else perDevice.set(device, remaining);
      });
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
