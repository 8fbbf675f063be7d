import type { z } from 'zod';
import type { Kind } from '../journal/entry.ts';
import type { JournalQuery, PrintedEntry } from '../journal/read.ts';
import { type AdminRequest, ask, send } from './ask.ts';
import { type Operation, type OperationId, operations } from './operations.ts';
import { readEvents } from './readEvents.ts';

type Operations = typeof operations;

/** What an operation is given: the id in its path, its body, its query. */
type Given<O> = [
  ...(O extends { path: `${string}{id}${string}` } ? [id: string] : []),
  ...(O extends { body: infer B extends z.ZodType } ? [body: z.input<B>] : []),
  ...(O extends { query: infer Q extends z.ZodType } ? [query?: Partial<z.output<Q>>] : []),
];

/** The body of an answer. */
type Answer<A> = {
  [S in keyof A]: A[S] extends { schema: infer T extends z.ZodType } ? z.output<T> : undefined;
}[keyof A];

type Query<K extends Kind> = Partial<Omit<JournalQuery, 'kind'>> & { kind?: K };

/** Entries went before this client could read them. */
export interface JournalGap {
  kind: 'gap';
  /** Position of the last entry before them. */
  after: number;
  /** Position of the first entry that is left. */
  next: number;
}

/** The operations of an admin port, each with the id in its path, its body, and its query. All reject with `HubRefused`. */
export type AdminClient = {
  [Id in Exclude<OperationId, 'readJournal' | 'streamJournal'>]: (
    ...given: Given<Operations[Id]>
  ) => Promise<Answer<Operations[Id]['answers']>>;
} & {
  readJournal<K extends Kind = Kind>(query?: Query<K>): Promise<{ entries: PrintedEntry<K>[]; last: number }>;
  /** Entries as they come, until the loop is left, `signal` is aborted or the hub closes. */
  streamJournal<K extends Kind = Kind>(
    query?: Query<K>,
    signal?: AbortSignal,
  ): AsyncGenerator<PrintedEntry<K> | JournalGap, void>;
};

/**
 * For programs beside a hub, in whatever process: its admin port as functions, made from the description of its operations (H17).
 * @param token needed if the port is open to other machines
 */
export function createAdminClient(adminUrl: string, token?: string): AdminClient {
  const hub = { url: adminUrl.replace(/\/$/, ''), token };
  async function* streamJournal(query?: object, signal?: AbortSignal) {
    const response = await send(hub, { ...requestFor(operations.streamJournal, [query]), signal });
    for await (const { name, data } of readEvents(response))
      yield name === 'gap' ? { kind: 'gap', ...JSON.parse(data) } : JSON.parse(data);
  }
  const asking = Object.entries<Operation>(operations).map(([id, operation]) => [
    id,
    (...given: unknown[]) => ask(hub, requestFor(operation, given)),
  ]);
  return { ...Object.fromEntries(asking), streamJournal };
}

function requestFor({ method, path, body, query }: Operation, given: readonly unknown[]): AdminRequest {
  const left = [...given];
  const id = path.includes('{id}') ? encodeURIComponent(String(left.shift())) : '';
  const sent = body && { body: left.shift() ?? {} };
  const asked = Object.entries((query && left.shift()) ?? {}).filter(([, value]) => value !== undefined);
  const search =
    asked.length > 0
      ? `?${new URLSearchParams(Object.fromEntries(asked.map(([name, value]) => [name, String(value)])))}`
      : '';
  return { method, path: path.replace('{id}', () => id) + search, ...sent };
}
