import { path as pathForm } from '../protocol/fields.ts';
import { Failure } from './failure.ts';

/** The receiver of an invocation (M5). */
export interface Route {
  readonly device: string;
  /** Connectivity path below the device; empty: the device itself. */
  readonly target: string;
}

/**
 * Splits the path of an object into the device, which is the first segment, and the target (M5).
 * @throws Failure no_owner, invalid_path
 */
export function routeOf(path: string | undefined): Route {
  if (!path) throw new Failure('no_owner', 'no device owns this object model; a device must claim it first');
  // The hub's client would resolve . and .. in a URL.
  if (!pathForm.safeParse(path).success) {
    const detail =
      'the path of this object model has an empty, . or .. segment, or control characters; nothing was invoked, have it claimed again';
    throw new Failure('invalid_path', detail, { invoked: 'no' });
  }
  const [device = '', ...target] = path.split('/');
  return { device, target: target.join('/') };
}
