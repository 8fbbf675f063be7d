import { folderOfId } from './deadLetter.ts';
import type { LetterInfo } from './letterStorage.ts';

/** Id and size, in bytes. */
export type KnownLetter = Pick<LetterInfo, 'id' | 'bytes'>;

/** The dead letters of a store, as far as this process knows. */
export interface KnownLetters {
  find(id: string): KnownLetter | undefined;
  /** Replaces an earlier one of the same id. */
  add(letter: KnownLetter): void;
  delete(id: string): void;
  /** Of the device with this folder. */
  ofDevice(folder: string): Iterable<KnownLetter>;
}

export function createKnownLetters(letters: Iterable<KnownLetter> = []): KnownLetters {
  const devices = new Map<string, Map<string, KnownLetter>>();

  function add(letter: KnownLetter) {
    const folder = folderOfId(letter.id);
    const own = devices.get(folder) ?? new Map();
    devices.set(folder, own.set(letter.id, letter));
  }

  for (const letter of letters) add(letter);
  return {
    find: (id) => devices.get(folderOfId(id))?.get(id),
    add,
    delete(id) {
      const folder = folderOfId(id);
      const own = devices.get(folder);
      own?.delete(id);
      if (own?.size === 0) devices.delete(folder);
    },
    ofDevice: (folder) => devices.get(folder)?.values() ?? [],
  };
}
