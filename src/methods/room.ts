import { Failure } from './failure.ts';

interface RoomLimits {
  /** Invocations in work at once, of callers who may invoke. */
  readonly inFlight: number;
  readonly inFlightPerDevice: number;
}

/** Bounds what is in work, with a share for each device: who finds no room is told to come again (M8). */
export interface Room {
  /**
   * A request whose caller is not known yet; it has taken no memory for a body.
   * @returns leaves
   * @throws Failure overloaded
   */
  arrive(): () => void;
  /**
   * An invocation of somebody who may invoke.
   * @returns leaves
   * @throws Failure overloaded
   */
  begin(device: string): () => void;
}

/** For each invocation in work so many requests may wait for the information model: wrong tokens keep nobody out. */
const arrivalsEach = 4;
const retryAfter = 1;

export function createRoom({ inFlight, inFlightPerDevice }: RoomLimits): Room {
  const mostArrivals = arrivalsEach * inFlight;
  const devices = new Map<string, number>();
  let arrived = 0;
  let begun = 0;

  return {
    arrive() {
      if (arrived >= mostArrivals) {
        throw new Failure('overloaded', 'the front door has too many requests in work; repeat it later', {
          retryAfter,
        });
      }
      arrived += 1;
      return once(() => {
        arrived -= 1;
      });
    },
    begin(device) {
      const ofDevice = devices.get(device) ?? 0;
      if (ofDevice >= inFlightPerDevice) {
        const detail = `the device has ${ofDevice} invocations in work, which is its share; repeat it when they have ended`;
        throw new Failure('overloaded', detail, { retryAfter });
      }
      if (begun >= inFlight) {
        throw new Failure('overloaded', 'the front door has too many invocations in work; repeat it later', {
          retryAfter,
        });
      }
      begun += 1;
      devices.set(device, ofDevice + 1);
      return once(() => {
        begun -= 1;
        const left = (devices.get(device) ?? 1) - 1;
        if (left === 0) devices.delete(device);
        else devices.set(device, left);
      });
    },
  };
}

function once(leave: () => void): () => void {
  let isLeft = false;
  return () => {
    if (!isLeft) leave();
    isLeft = true;
  };
}
