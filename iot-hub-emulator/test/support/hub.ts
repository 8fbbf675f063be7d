import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Hub, type HubOptions, startHub } from '../../src/hub.ts';

/** A hub on free ports in a directory of its own; `stop` closes it and removes the directory. */
export async function freshHub(
  options: Omit<HubOptions, 'directory'> = {},
): Promise<Hub & { directory: string; stop(): Promise<void> }> {
  const directory = await mkdtemp(join(tmpdir(), 'hub-'));
  const hub = await startHub({ ...options, directory });
  return {
    ...hub,
    directory,
    async stop() {
      await hub.close();
      await rm(directory, { recursive: true, force: true });
    },
  };
}
