import { Failure } from './failure.ts';

/** Where an invocation goes (M5). */
export interface Route {
  readonly device: string;
  /** Connectivity path below it; empty: the device itself. */
  readonly target: string;
}

/**
 * The first segment of the object's path is the device, the rest the target (M5).
 * @throws Failure no_owner, device_unknown
 */
export function routeOf(path: string | undefined): Route {
  const [device = '', ...target] = path?.split('/') ?? [];
  if (device === '') {
    const detail = 'nobody owns this object model, so there is no device to ask; a device must claim it first';
    throw new Failure('no_owner', detail);
  }
  // Either would lead the hub's client to another address.
  if (device === '.' || device === '..') {
    throw new Failure('device_unknown', 'the owner of this object model is no device of the hub; nothing was invoked');
  }
  return { device, target: target.join('/') };
}
