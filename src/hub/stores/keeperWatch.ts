import { statSync } from 'node:fs';

/** Whether another process, which owns a file, is still there. */
export interface KeeperWatch {
  /** To be asked again and again: true when the file has not changed for the expiry. */
  hasGone(): boolean;
  /** The file is ours. */
  forget(): void;
}

/** One look at the file. */
interface FileObservation {
  readonly version: string;
  readonly at: number;
  readonly unchangedMs: number;
}

/**
 * The owner of a file changes its time with each renewal. Its age is measured by a clock that can't be set (D180), from
 * when it was first seen. Of a longer gap between two looks only a third of the expiry counts: this process may have stood
 * still, and the owner with it.
 */
export function createKeeperWatch(path: string, expiryMs: number): KeeperWatch {
  let last: FileObservation | undefined;

  return {
    hasGone() {
      const version = versionOf(path);
      const at = performance.now();
      const isSame = last?.version === version;
      const unchangedMs = last && isSame ? last.unchangedMs + Math.min(at - last.at, expiryMs / 3) : 0;
      last = { version, at, unchangedMs };
      return unchangedMs >= expiryMs;
    },
    forget() {
      last = undefined;
    },
  };
}

/** Another one after each write and each renewal. */
function versionOf(path: string): string {
  const { ino, mtimeMs } = statSync(path);
  return `${ino} ${mtimeMs}`;
}
