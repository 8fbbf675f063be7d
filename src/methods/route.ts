import { Failure } from './failure.ts';

/** The receiver of an invocation (M5). */
export interface Route {
  readonly device: string;
  /** Connectivity path below the device; empty: the device itself. */
  readonly target: string;
}

/**
 * Splits the path of an object into the device, which is the first segment, and the target (M5).
 * @throws Failure no_owner, device_unknown
 */
export function routeOf(path: string | undefined): Route {
  const [device = '', ...target] = path?.split('/') ?? [];
  if (device === '') throw new Failure('no_owner', 'no device owns this object model; a device must claim it first');
  // The hub's client would resolve them in the URL.
  if (device === '.' || device === '..') {
    throw new Failure(
      'device_unknown',
      'the owner of this object model is not a device of the hub; nothing was invoked',
    );
  }
  return { device, target: target.join('/') };
}
