import { randomUUID } from 'node:crypto';
import { mkdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, onTestFinished } from 'vitest';
import { listening } from './listening.ts';

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

/**
 * The path of a folder that is there during all tests of a file or group.
 * Declared before what uses it, it is removed after that has ended.
 */
export const folderForAll = (name: string): string => folderWith(beforeAll, afterAll, name);

/** The path of a folder that is there, and empty, when a test of a file or group begins. */
export const folderForEach = (name: string): string => folderWith(beforeEach, afterEach, name);

function folderWith(
  before: (make: () => Promise<void>) => void,
  after: (remove: () => Promise<void>) => void,
  name: string,
): string {
  const path = join(tmpdir(), `${name}-${randomUUID()}`);
  before(() => mkdir(path, { mode: 0o700 }));
  after(() => rm(path, { recursive: true, force: true }));
  return path;
}

/** The port of a server that listens, at this host, until the test ends. */
export const portForTest = async (...given: Parameters<typeof listening>): Promise<number> =>
  (await startForTest(listening(...given))).port;

/** What is waited for comes at once, or on a busy machine late. */
export const soon = { timeout: 120_000, interval: 25 };
