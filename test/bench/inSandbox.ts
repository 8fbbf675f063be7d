import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Sandbox, startSandbox } from '../../sandbox/sandbox.ts';

/**
 * Does this in a sandbox of its own, with the service not started, and with the folder of the sandbox.
 * @param build the folder of the checkout whose service is started, which is built
 */
export async function inSandbox<T>(
  build: string,
  work: (sandbox: Sandbox, directory: string) => Promise<T>,
): Promise<T> {
  const directory = await mkdtemp(join(tmpdir(), 'bench-'));
  const sandbox = await startSandbox({ directory, service: false, serviceDirectory: build });
  try {
    return await work(sandbox, directory);
  } finally {
    await sandbox.close();
    await rm(directory, { recursive: true, force: true });
  }
}
