import { rmSync } from 'node:fs';

const attempts = 40;
const pauseMs = 50;

/**
 * Removes a folder while processes that have been told to end may still write into it, at the exit of this one. The retries of
 * `rmSync` do not look again what is in a folder.
 */
export function removeInUse(directory: string): void {
  for (let left = attempts; ; left -= 1) {
    try {
      rmSync(directory, { recursive: true, force: true });
      return;
    } catch (error) {
      if (left === 0) throw error;
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, pauseMs);
    }
  }
}
