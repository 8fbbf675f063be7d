import { accessSync, constants, mkdirSync, statfsSync, statSync } from 'node:fs';
import { type Finding, failure, ok, warning } from '@device-messaging/telemetry/check.ts';
import type { Configuration } from '../configuration/read.ts';

const mebibyte = 1024 * 1024;

/** The folders into which files for modules are downloaded: that they can be written, and that their disks have room for the quotas. */
export function checkFolders(modules: Configuration['modules']): Finding[] {
  const what = 'folders';
  const found: Finding[] = [];
  /** By disk: what its folders may come to hold, and what it has. */
  const disks = new Map<number, { needed: number; free: number; folder: string }>();
  for (const { id, files } of modules) {
    if (files === undefined) continue;
    const { folder, quotaBytes } = files;
    try {
      mkdirSync(folder, { recursive: true });
      accessSync(folder, constants.R_OK | constants.W_OK | constants.X_OK);
      const { bavail, bsize, blocks } = statfsSync(folder);
      const { dev } = statSync(folder);
      const disk = disks.get(dev) ?? {
        needed: 0,
        free: blocks === 0 ? Number.POSITIVE_INFINITY : bavail * bsize,
        folder,
      };
      disks.set(dev, { ...disk, needed: disk.needed + quotaBytes });
    } catch (error) {
      const remedy = `mount a folder there that user ${process.geteuid?.()} can write`;
      found.push(failure(what, `module ${id}: ${(error as Error).message}`, remedy));
    }
  }
  for (const { needed, free, folder } of disks.values()) {
    if (free < needed) {
      const room = `the disk of ${folder} has ${Math.floor(free / mebibyte)} MB free, the quotas on it are ${Math.ceil(needed / mebibyte)} MB`;
      found.push(warning(what, room, 'make room, or lower quotaBytes'));
    }
  }
  return found.length > 0
    ? found
    : [ok(what, disks.size === 0 ? 'no module has files' : 'all can be written, with room for their quotas')];
}
