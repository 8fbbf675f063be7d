import { folderOfId } from './deadLetter.ts';
import type { DeviceLetters } from './excess.ts';
import type { LetterInfo } from './letterStorage.ts';

/** The dead letters of a store, as far as this process knows: some 130 bytes for each, and as much for each device. */
export interface KnownLetters {
  /** Size of a dead letter; undefined when it is not known. */
  bytesOf(id: string): number | undefined;
  /** Replaces an earlier one of the same id. */
  add(id: string, bytes: number): void;
  delete(id: string): void;
  /** Of the device with this folder. */
  ofDevice(folder: string): DeviceLetters;
}

export function createKnownLetters(letters: Iterable<Pick<LetterInfo, 'id' | 'bytes'>> = []): KnownLetters {
  const sizes = new Map<string, number>();
  const devices = new Map<string, DeviceLetters>();
  const ofDevice = (folder: string): DeviceLetters => devices.get(folder) ?? { letters: 0, bytes: 0 };

  function remove(id: string) {
    const bytes = sizes.get(id);
    if (bytes === undefined) return;
    sizes.delete(id);
    const folder = folderOfId(id);
    const own = ofDevice(folder);
    if (own.letters === 1) devices.delete(folder);
    else devices.set(folder, { letters: own.letters - 1, bytes: own.bytes - bytes });
  }

  function add(id: string, bytes: number) {
    remove(id);
    sizes.set(id, bytes);
    const own = ofDevice(folderOfId(id));
    devices.set(folderOfId(id), { letters: own.letters + 1, bytes: own.bytes + bytes });
  }

  for (const { id, bytes } of letters) add(id, bytes);
  return { bytesOf: (id) => sizes.get(id), add, delete: remove, ofDevice };
}
