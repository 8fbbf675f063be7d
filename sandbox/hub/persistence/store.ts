import { mkdirSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import type { StoredMessage } from '../devicebound.ts';
import type { LoggedEvent } from '../partitionLog.ts';
import type { Identity } from '../registry.ts';
import { type EventStore, openEventStore } from './eventStore.ts';
import { lockDirectory } from './lock.ts';
import { openTable, type Table } from './table.ts';

/** What a hub keeps on disk. */
export interface Store {
  events(partition: number, each: (event: LoggedEvent) => void): EventStore;
  identities: Table<Identity>;
  /** Cloud-to-device messages by the order in which they were queued. */
  messages: Table<StoredMessage>;
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
  const stores: EventStore[] = [];
  let closed = false;
  const identities = openTable<Identity>(join(directory, 'registry.log'));
  const messages = openTable<StoredMessage>(join(directory, 'devicebound.log'));
  return {
    events(partition, each) {
      const store = openEventStore(join(directory, `partition-${partition}.log`), each);
      stores.push(store);
      return store;
    },
    identities,
    messages,
    close() {
      if (closed) return;
      closed = true;
      for (const { close } of [...stores, identities, messages]) close();
      unlock();
    },
  };
}
