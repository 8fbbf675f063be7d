import { stat } from 'node:fs/promises';

/** Files, each with what was known of it just before it was read. */
export type Stamps = Map<string, string>;

/** Changes with each change of the file, also when a link to it, or above it, leads to another file. */
export async function stampOf(path: string): Promise<string> {
  try {
    const { dev, ino, size, mtimeNs, ctimeNs } = await stat(path, { bigint: true });
    return [dev, ino, size, mtimeNs, ctimeNs].join();
  } catch (error) {
    return String((error as NodeJS.ErrnoException).code);
  }
}

/** The present stamps of these files. */
export async function stampsNow(paths: Iterable<string>): Promise<Stamps> {
  const now = [...paths].map(async (path) => [path, await stampOf(path)] as const);
  return new Map(await Promise.all(now));
}

export const areSame = (some: Stamps, others: Stamps | undefined): boolean =>
  some.size === others?.size && [...some].every(([path, stamp]) => others.get(path) === stamp);
