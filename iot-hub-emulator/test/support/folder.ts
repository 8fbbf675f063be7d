import { randomUUID } from 'node:crypto';
import { mkdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach } from 'vitest';

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
