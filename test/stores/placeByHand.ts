import type { LetterStorage } from '../../src/stores/deadLetter.ts';

/** A place in memory whose verbs wait for the test while they are held up. */
export function placeByHand() {
  const texts = new Map<string, string>();
  const written = new Map<string, number>();
  const asked = { remove: 0, entries: 0 };
  const held = new Map<string, (() => void)[]>();
  const pass = async (verb: string) => {
    const waiting = held.get(verb);
    if (waiting) await new Promise<void>((resolve) => waiting.push(resolve));
  };
  const place: LetterStorage = {
    async entries() {
      asked.entries += 1;
      const found = [...texts].map(([id, text]) => ({ id, bytes: text.length, at: written.get(id) ?? 0 }));
      await pass('entries');
      return found;
    },
    read: (id) => Promise.resolve(texts.get(id)),
    async write(id, text) {
      await pass('write');
      texts.set(id, text);
      written.set(id, Date.now());
    },
    async remove(id) {
      asked.remove += 1;
      await pass('remove');
      texts.delete(id);
    },
  };
  return {
    place,
    hold: (verb: 'entries' | 'write' | 'remove') => void held.set(verb, []),
    release(verb: 'entries' | 'write' | 'remove') {
      const waiting = held.get(verb) ?? [];
      held.delete(verb);
      for (const go of waiting) go();
    },
    ids: () => [...texts.keys()].sort(),
    /** How often. */
    asked: () => ({ ...asked }),
  };
}
