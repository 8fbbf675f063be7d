/** `iot-hub-emulator/journal`: one that a hub can share with what runs beside it, and how it is read over HTTP. */
export type { EntryOf, JournalEntry, JournalEvent, JournalFilter, Kind } from '../journal/entry.ts';
export { createJournal, type Journal } from '../journal/journal.ts';
export { parseQuery, readJournal } from '../journal/read.ts';
export { streamJournal } from '../journal/stream.ts';
