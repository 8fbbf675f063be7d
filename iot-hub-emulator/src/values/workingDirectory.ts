import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** The directory that was given, or a temporary one, which `remove` removes with all that is in it. */
export async function workingDirectory(given?: string): Promise<{ directory: string; remove(): Promise<void> }> {
  if (given !== undefined) return { directory: given, remove: async () => undefined };
  const directory = await mkdtemp(join(tmpdir(), 'iot-hub-'));
  return { directory, remove: () => rm(directory, { recursive: true, force: true }) };
}
