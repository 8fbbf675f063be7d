import { join } from 'node:path';
import type { Settings } from './table.ts';

/** The folders of the data directory. A volume can be mounted at any of them. */
export interface Directories {
  readonly checkpoints: string;
  readonly deadLetters: string;
}

export const directoriesOf = ({ directory }: Settings['data']): Directories => ({
  checkpoints: join(directory, 'checkpoints'),
  deadLetters: join(directory, 'dead-letters'),
});

/** The folders that the service uses with these settings. */
export function usedDirectories({ data, store }: Pick<Settings, 'data' | 'store'>): string[] {
  const { checkpoints, deadLetters } = directoriesOf(data);
  return store.kind === 'file' ? [checkpoints, deadLetters] : [];
}
