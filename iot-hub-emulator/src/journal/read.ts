import { z } from 'zod';
import { type EntryOf, type JournalEntry, type Kind, kinds } from './entry.ts';
import type { Journal } from './journal.ts';

const names = Object.keys(kinds) as [Kind, ...Kind[]];

/** The query of a request for entries. */
export const journalQuery = z.object({
  since: z.coerce.number().int().min(0).optional().describe('Only entries after this position'),
  deviceId: z.string().optional().describe('Only entries about this device'),
  correlationId: z.string().optional().describe('Only entries about this message, its reply and the calls in between'),
  kind: z.enum(names).optional().describe('Only entries of this kind'),
});

export type JournalQuery = z.infer<typeof journalQuery>;

/** Reads a query; one that is malformed is refused with a sentence. */
export function parseQuery(query: URLSearchParams, refuse: (sentence: string) => Error): JournalQuery {
  const { success, data, error } = journalQuery.safeParse(Object.fromEntries(query));
  if (success) return data;
  throw refuse(error.issues.map(({ path, message }) => `${path.join('.')}: ${message}`).join('; '));
}

/** The entries that a query asks for, and the position to go on from. */
export function readJournal(journal: Journal, query: JournalQuery): { entries: object[]; last: number } {
  return { entries: journal.list(query).map(printed), last: journal.last };
}

/** An entry as JSON has it: the time in ISO 8601, the bytes of a message as base64, and as text where they are UTF-8. */
export type PrintedEntry<K extends Kind = Kind> = Printed<EntryOf<K>>;

type Printed<E> = E extends { body: Buffer }
  ? Omit<E, 'time' | 'body'> & { time: string; body: string; text?: string }
  : Omit<E, 'time'> & { time: string };

export function printed(entry: JournalEntry): object {
  const { position, time, kind, ...rest } = entry;
  const dated = { position, time: new Date(time).toISOString(), kind, ...rest };
  if (!('body' in entry) || !Buffer.isBuffer(entry.body)) return dated;
  const text = entry.body.toString('utf8');
  const isText = Buffer.from(text).equals(entry.body);
  return { ...dated, body: entry.body.toString('base64'), ...(isText ? { text } : {}) };
}
