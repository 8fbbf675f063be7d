import { mkdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { vi } from 'vitest';

export type SecretVolume = ReturnType<typeof createSecretVolume>;

/** A folder of secrets as Kubernetes mounts one: each file is a link through `..data`, which is replaced as a whole. */
export function createSecretVolume(directory: string, first: Readonly<Record<string, string>>) {
  let contents: Record<string, string | undefined> = {};
  let version = 0;
  mkdirSync(directory, { recursive: true });

  const volume = {
    file: (name: string) => join(directory, name),
    /** Replaces the link to all secrets at once; `undefined` takes one away. */
    put(changes: Readonly<Record<string, string | undefined>>) {
      contents = { ...contents, ...changes };
      const before = join(directory, `..${version}`);
      version += 1;
      const folder = `..${version}`;
      mkdirSync(join(directory, folder));
      for (const [name, content] of Object.entries(contents))
        if (content !== undefined) writeFileSync(join(directory, folder, name), content, { mode: 0o600 });
      symlinkSync(folder, join(directory, '..new'));
      renameSync(join(directory, '..new'), join(directory, '..data'));
      rmSync(before, { recursive: true, force: true });
    },
  };
  volume.put(first);
  for (const name of Object.keys(first)) symlinkSync(join('..data', name), volume.file(name));
  return volume;
}

/** A secret that becomes the next of these when it is renewed, and that one or another when the test says so. */
export function rotatingSecret(...values: string[]) {
  const listeners = new Set<() => void>();
  let current = values.shift() ?? '';
  const change = (next = values.shift() ?? current) => {
    current = next;
    for (const listener of listeners) listener();
    return current;
  };
  const secret = {
    current: () => current,
    renew: vi.fn(async (refused: string) => (refused === current && values.length > 0 ? change() : current)),
    onChange(listener: () => void) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
  };
  return { secret, change };
}
