import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { DeadLetter, Storage } from './storage.ts';

/** Where the instances keep their checkpoints and dead letters, as those see it who look from outside. */
export interface Store {
  /** The settings by which an instance has it. */
  readonly environment: Readonly<Record<string, string>>;
  /** How far the checkpoints of an event hub have come: partition → sequence number. */
  positions(hub: string): Promise<ReadonlyMap<string, number>>;
  /** The same checkpoints, by their names: what each write changes. */
  checkpoints(hub: string): Promise<ReadonlyMap<string, string>>;
  letters(): Promise<DeadLetter[]>;
}

/** @param name begins the names of its containers */
export const storeOfBlobs = (storage: Storage, name: string): Store => ({
  environment: { STORE: 'blob', CHECKPOINTS_CONTAINER: name, DEAD_LETTERS_CONTAINER: `${name}-letters` },
  positions: (hub) => storage.positions(name, hub),
  checkpoints: (hub) => storage.checkpoints(name, hub),
  letters: () => storage.letters(`${name}-letters`),
});

/** Of one instance. @param directory its data directory */
export function storeOfFiles(directory: string): Store {
  async function positions(hub: string): Promise<ReadonlyMap<string, number>> {
    const [text = '{"progress":[]}'] = filesIn(join(directory, 'checkpoints'), ` ${hub} `);
    const { progress } = JSON.parse(text) as {
      progress: { partition: string; progress: { sequenceNumber: number } }[];
    };
    return new Map(progress.map((one) => [one.partition, one.progress.sequenceNumber]));
  }
  return {
    environment: { STORE: 'file', STORE_CONNECTION_STRING_FILE: '', DATA_DIRECTORY: directory },
    positions,
    checkpoints: async (hub) =>
      new Map(Array.from(await positions(hub), ([partition, position]) => [partition, String(position)])),
    letters: async () => filesIn(join(directory, 'dead-letters')).map((text) => JSON.parse(text)),
  };
}

/** The texts of the JSON files whose decoded names have these words. */
function filesIn(directory: string, words = ''): string[] {
  try {
    return readdirSync(directory, { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith('.json') && decodeURIComponent(name).includes(words))
      .map((name) => readFileSync(join(directory, name), 'utf8'));
  } catch {
    return []; // it has gone, or is not there yet
  }
}
