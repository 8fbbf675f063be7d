import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Sandbox, startSandbox } from '../../sandbox/sandbox.ts';
import { buildService } from '../../sandbox/service/build.ts';

/** Does this in a sandbox of its own, with the service built and not started, and with the folder of the sandbox. */
export async function inSandbox<T>(work: (sandbox: Sandbox, directory: string) => Promise<T>): Promise<T> {
  await buildService();
  const directory = await mkdtemp(join(tmpdir(), 'bench-'));
  const sandbox = await startSandbox({ directory, service: false });
  try {
    return await work(sandbox, directory);
  } finally {
    await sandbox.close();
    await rm(directory, { recursive: true, force: true });
  }
}
