import { join } from 'node:path';
import type { Settings } from '../settings/table.ts';

/** The folders of the data directory. A volume can be mounted at any of them. */
export const directoriesOf = ({ directory }: Settings['data']) => ({
  checkpoints: join(directory, 'checkpoints'),
  deadLetters: join(directory, 'dead-letters'),
});

/** The folders that the service uses with these settings. */
export const usedDirectories = ({ data, store }: Pick<Settings, 'data' | 'store'>): string[] =>
  store.kind === 'file' ? Object.values(directoriesOf(data)) : [];
