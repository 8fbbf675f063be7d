import { afterAll, afterEach, beforeAll, beforeEach, onTestFinished } from 'vitest';

interface Started {
  close(): unknown;
}

/** What runs during all tests of a file or group. It has its members, getters included, when they begin. */
export const startForAll = <T extends Started>(start: () => Promise<T>): T => startWith(beforeAll, afterAll, start);

/** What is started for each test of a file or group. It has its members when the test begins. */
export const startForEach = <T extends Started>(start: () => Promise<T>): T => startWith(beforeEach, afterEach, start);

/** What ends with the test that starts it. */
export async function startForTest<T extends Started>(starting: Promise<T>): Promise<T> {
  const started = await starting;
  onTestFinished(async () => void (await started.close()));
  return started;
}

function startWith<T extends Started>(
  before: (start: () => Promise<void>) => void,
  after: (close: () => Promise<void>) => void,
  start: () => Promise<T>,
): T {
  const started = {} as T;
  before(async () => void Object.defineProperties(started, Object.getOwnPropertyDescriptors(await start())));
  after(async () => void (await (started as Partial<T>).close?.())); // there is none after a failed start
  return started;
}
