import { join } from 'node:path';
import { afterEach, beforeEach, expect } from 'vitest';
import { type Hub, type HubOptions, startHub } from '../../src/hub.ts';
import { folderForEach, startForAll, startForEach, startForTest } from './fixtures.ts';

type Options = Omit<HubOptions, 'directory'>;

/** A hub that runs during all tests of a file or group. */
export const hubForAll = (options?: Options): Hub => startForAll(() => startHub(options));

/** A hub of its own for each test of a file or group. */
export const hubForEach = (options?: Options): Hub => startForEach(() => startHub(options));

/** A hub that runs until the end of the test that asks for it. */
export const hubForTest = (options?: Options): Promise<Hub> => startForTest(startHub(options));

/** A hub for all tests, each of which begins without connections and ends without faults. */
export function hubForFaults(options?: Options): Hub {
  const hub = hubForAll(options);
  beforeEach(async () => {
    await hub.faults.strike({ kind: 'drop' });
    await expect.poll(() => hub.counters().connections.all).toBe(0);
  });
  afterEach(() => void hub.faults.clear());
  return hub;
}

/** A hub that keeps everything in a folder, which is new for each test. */
export function hubToRestart(usual: Options = {}): { directory: string; start(changes?: Options): Promise<Hub> } {
  const directory = folderForEach('hub');
  let hub: Hub | undefined;
  afterEach(() => hub?.close());
  return {
    directory,
    /** Start the hub, or end it and start it again. */
    async start(changes = {}) {
      await hub?.close();
      hub = await startHub({ directory, persist: join(directory, 'data'), ...usual, ...changes });
      return hub;
    },
  };
}

export function deviceForEach(hub: Hub, give: (deviceId: string) => void): void {
  let count = 0;
  beforeEach(() => {
    const deviceId = `pump-${count++}`;
    hub.registry.create(deviceId);
    give(deviceId);
  });
}
