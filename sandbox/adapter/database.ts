import { mkdirSync } from 'node:fs';
import { PGlite } from '@electric-sql/pglite';

/** As of `pg`, too: with `new Pool(…)` in its place, the same SQL runs on a server. */
export interface Sql {
  // biome-ignore lint/suspicious/noExplicitAny: a row is what the statement selects
  query(text: string, values?: unknown[]): Promise<{ readonly rows: any[]; readonly affectedRows?: number }>;
}

export interface Database {
  /** All of it happens, or nothing; it is made again when another one was first. */
  transaction<T>(run: (sql: Sql) => Promise<T>): Promise<T>;
  close(): Promise<void>;
}

// JSON of devices is text: jsonb would make doubles of numbers, sort members and refuse \u0000. Look-ups go by `scalars`.
const schema = `
create table if not exists types (
  tenant text not null, model text not null, type_id text not null, version integer[] not null, definition text not null,
  primary key (tenant, model, type_id, version));
create table if not exists identities (
  id uuid primary key default gen_random_uuid(), tenant text not null, device text not null, identity text not null,
  path text not null unique, parent_id uuid references identities, attributes text not null default '{}');
create table if not exists objects (
  tenant text not null, object_id uuid not null, model text not null, name text, type_id text not null, type text not null,
  properties text not null, variables text not null, scalars jsonb not null, version bigint not null,
  owner_id uuid, path text, primary key (tenant, object_id, model));
create index if not exists objects_by_scalars on objects using gin (scalars jsonb_path_ops);
create table if not exists unique_values (
  tenant text not null, model text not null, key text not null, object_id uuid not null,
  primary key (tenant, model, key));
create table if not exists refs (
  position bigint generated always as identity, tenant text not null, object_id uuid not null, model text not null,
  name text not null, to_object_id uuid not null, to_model text not null, attributes text not null,
  primary key (tenant, object_id, model, name, to_object_id, to_model));
create table if not exists answers (
  backend text not null, device text not null, key text not null, request text not null, status integer not null,
  body text, at timestamptz not null default now(), primary key (backend, device, key));
delete from answers where at < now() - interval '1 day';
`;

/** Somebody else was first: unique_violation, serialization_failure, deadlock_detected. */
const isLateness = (error: unknown): boolean => /^(23505|40001|40P01)$/.test(String(Object(error).code));
const mostAttempts = 5;

/** @param directory of the embedded database; undefined: in memory */
export async function openDatabase(directory?: string): Promise<Database> {
  if (directory !== undefined) mkdirSync(directory, { recursive: true, mode: 0o700 }); // PGlite makes the last folder only
  const database = await PGlite.create(directory);
  await database.exec(schema);
  return {
    async transaction(run) {
      for (let attempt = 1; ; attempt++) {
        try {
          return await database.transaction(run);
        } catch (error) {
          if (attempt === mostAttempts || !isLateness(error)) throw error;
        }
      }
    },
    close: () => database.close(),
  };
}
