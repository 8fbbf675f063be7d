import { afterAll, afterEach, beforeAll, beforeEach } from 'vitest';
import { freshHub } from '../../src/testing/freshHub.ts';

type FreshHub = Awaited<ReturnType<typeof freshHub>>;
type Options = Parameters<typeof freshHub>[0];

/** A hub that runs during all tests of a file or group. */
export const hubForAll = (options?: Options): FreshHub => hubWith(beforeAll, afterAll, options);

/** A hub of its own for each test of a file or group. */
export const hubForEach = (options?: Options): FreshHub => hubWith(beforeEach, afterEach, options);

function hubWith(
  before: (start: () => Promise<void>) => void,
  after: (stop: () => Promise<void>) => void,
  options: Options,
): FreshHub {
  const hub = {} as FreshHub;
  before(async () => void Object.assign(hub, await freshHub(options)));
  after(() => hub.stop());
  return hub;
}
