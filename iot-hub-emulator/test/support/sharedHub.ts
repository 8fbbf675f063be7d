import { afterAll, afterEach, beforeAll, beforeEach } from 'vitest';
import { type Hub, type HubOptions, startHub } from '../../src/hub.ts';

type Options = Omit<HubOptions, 'directory'>;

/** A hub that runs during all tests of a file or group. */
export const hubForAll = (options?: Options): Hub => hubWith(beforeAll, afterAll, options);

/** A hub of its own for each test of a file or group. */
export const hubForEach = (options?: Options): Hub => hubWith(beforeEach, afterEach, options);

function hubWith(
  before: (start: () => Promise<void>) => void,
  after: (stop: () => Promise<void>) => void,
  options: Options | undefined,
): Hub {
  const hub = {} as Hub;
  before(async () => void Object.assign(hub, await startHub(options)));
  after(() => hub.close());
  return hub;
}
