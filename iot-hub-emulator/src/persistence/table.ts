import { type Json, parseJson, writeJson } from '../values/json.ts';
import { headerSize, openRecords } from './records.ts';

/** Values by key that outlive the process. What `put` and `delete` have returned for is with the operating system. */
export interface Table<V> {
  /** What is there, in the order in which the keys first came. */
  entries(): [key: string, value: V][];
  put(key: string, value: V): void;
  delete(key: string): void;
  close(): void;
}

type Stored<V> = [key: string, value: V] | [key: string];

// payload: JSON, [key, value] to put and [key] to delete
const slack = 64 * 1024;

/** A table in an append-only file, which is written anew when most of it is out of date. */
export function openTable<V>(path: string): Table<V> {
  const values = new Map<string, { value: V; bytes: number }>();
  let bytes = 0; // of the records that count

  const enter = ([key, ...value]: Stored<V>, payload: Buffer): void => {
    const size = payload.length + headerSize;
    bytes -= values.get(key)?.bytes ?? 0;
    if (value.length === 0) values.delete(key);
    else {
      values.set(key, { value: value[0], bytes: size });
      bytes += size;
    }
  };
  const file = openRecords(path, (payload) =>
    enter(parseJson(payload.toString('utf8')) as unknown as Stored<V>, payload),
  );
  const entries = () => [...values].map(([key, { value }]): [string, V] => [key, value]);
  const encode = (record: Stored<V>): Buffer => Buffer.from(writeJson(record as Json));

  const compact = (): void => {
    if (file.size() > 2 * bytes + slack) file.replace(entries().map((entry) => [encode(entry)]));
  };
  const write = (record: Stored<V>): void => {
    compact();
    const payload = encode(record);
    file.append(payload);
    enter(record, payload);
  };
  compact();

  return {
    entries,
    put: (key, value) => write([key, value]),
    delete(key) {
      if (values.has(key)) write([key]);
    },
    close: () => file.close(),
  };
}
