import type { InstrumentedCall } from '../storage/instrumentedCall.ts';
import type { LetterInfo, LetterStorage } from './letterStorage.ts';

/** A storage whose calls are recorded, with failures that say what to do. */
export const instrumentedStorage = (place: LetterStorage, ask: InstrumentedCall): LetterStorage => ({
  async *entries(folder) {
    // Recorded as one call: between pages, the caller works on the entries that it has.
    yield* await ask('list', () => allOf(place.entries(folder)));
  },
  read: (id, mostBytes) => ask('read', () => place.read(id, mostBytes)),
  write: (id, text) => ask('write', () => place.write(id, text)),
  remove: (id) => ask('delete', () => place.remove(id)),
});

async function allOf(entries: AsyncIterable<LetterInfo>): Promise<LetterInfo[]> {
  const all: LetterInfo[] = [];
  for await (const entry of entries) all.push(entry);
  return all;
}
