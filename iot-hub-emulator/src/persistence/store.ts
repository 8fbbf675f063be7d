import { mkdirSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import type { LoggedEvent } from '../values/loggedEvent.ts';
import { type EventStore, openEventStore } from './eventStore.ts';
import { lockDirectory } from './lock.ts';
import { openTable, type Table } from './table.ts';

/** What a hub keeps on disk. */
export interface Store {
  events(partition: number, each: (event: LoggedEvent) => void): EventStore;
  /** The same of the event endpoint in the other region. */
  readonly secondary: Pick<Store, 'events'>;
  /** The table in the file `name`.log; ask once for each. */
  table<V>(name: string): Table<V>;
  close(): void;
}

/**
 * The files of a hub in `directory`, which is made if need be. Throws `DirectoryInUse`, and an error when the files are
 * of a hub with more partitions: their events would be lost from sight.
 */
export function openStore(directory: string, partitions: number): Store {
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  const there = readdirSync(directory).filter((name) => /^partition-\d+\.log$/.test(name)).length;
  if (there > partitions)
    throw new Error(`The hub in ${directory} has ${there} partitions; it cannot be started with ${partitions}.`);
  const unlock = lockDirectory(directory);
  const files: { close(): void }[] = [];
  let closed = false;
  const opened = <F extends { close(): void }>(file: F): F => {
    files.push(file);
    return file;
  };
  const eventsIn =
    (prefix: string): Store['events'] =>
    (partition, each) =>
      opened(openEventStore(join(directory, `${prefix}-${partition}.log`), each));
  return {
    events: eventsIn('partition'),
    secondary: { events: eventsIn('secondary-partition') },
    table: <V>(name: string) => opened(openTable<V>(join(directory, `${name}.log`))),
    close() {
      if (closed) return;
      closed = true;
      for (const file of files) file.close();
      unlock();
    },
  };
}
