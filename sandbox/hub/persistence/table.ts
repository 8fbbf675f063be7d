import { openRecords } from './records.ts';

/** Values by key that outlive the process. What `put` and `delete` have returned for is with the operating system. */
export interface Table<V> {
  /** What is there, in the order in which the keys first came. */
  entries(): [key: string, value: V][];
  put(key: string, value: V): void;
  delete(key: string): void;
  close(): void;
}

// payload: JSON, [key, value] to put and [key] to delete
const slack = 1000;

/** A table in an append-only file, which is written anew at the start when most of it is out of date. */
export function openTable<V>(path: string): Table<V> {
  const values = new Map<string, V>();
  let records = 0;
  const file = openRecords(path, (payload) => {
    records += 1;
    const record = JSON.parse(payload.toString('utf8')) as [string, V] | [string];
    if (record.length === 2) values.set(...record);
    else values.delete(record[0]);
  });
  const encode = (record: [string, V] | [string]): Buffer => Buffer.from(JSON.stringify(record));
  if (records > 2 * values.size + slack) file.replace([...values].map((entry) => [encode(entry)]));

  return {
    entries: () => [...values],
    put(key, value) {
      file.append(encode([key, value]));
      values.set(key, value);
    },
    delete(key) {
      if (!values.has(key)) return;
      file.append(encode([key]));
      values.delete(key);
    },
    close: () => file.close(),
  };
}
