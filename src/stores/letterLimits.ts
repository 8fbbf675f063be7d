import { folderOfId, type LetterInfo } from './deadLetter.ts';

// How many dead letters a store, and one device in it, may have (D280).

export interface DeadLetterLimits {
  /** Most dead letters of one device, and of all. */
  readonly deviceLetters: number;
  readonly maxLetters: number;
  /** Most bytes of one device's dead letters, and of all. The newest one of a device may have more. */
  readonly deviceBytes: number;
  readonly maxBytes: number;
  readonly retentionMs: number;
}

type Amount = Readonly<Record<'letters' | 'bytes', number>>;

export const nothing: Amount = { letters: 0, bytes: 0 };
export const withOne = (own: Amount, more: number): Amount => ({ letters: own.letters + 1, bytes: own.bytes + more });

/** Ids of the dead letters to be deleted, the oldest first: too old, beyond the limits of their device, or beyond those of all. */
export function excessOf(entries: Iterable<LetterInfo>, limits: DeadLetterLimits, now: number): string[] {
  const newestFirst = [...entries].sort((a, b) => b.at - a.at || (a.id < b.id ? 1 : -1));
  const devices = new Map<string, Amount>();
  let all = nothing;

  function stays({ id, bytes, at }: LetterInfo): boolean {
    if (now - at > limits.retentionMs) return false;
    const device = withOne(devices.get(folderOfId(id)) ?? nothing, bytes);
    devices.set(folderOfId(id), device);
    if (device.letters > limits.deviceLetters) return false;
    if (device.letters > 1 && device.bytes > limits.deviceBytes) return false;
    all = withOne(all, bytes);
    return all.letters <= limits.maxLetters && all.bytes <= limits.maxBytes;
  }

  return newestFirst
    .filter((entry) => !stays(entry))
    .map(({ id }) => id)
    .reverse();
}

/** Whether a device may have one more of so many bytes. A first one always fits. */
export const fitsQuota = (more: number, own: Amount, { deviceLetters, deviceBytes }: DeadLetterLimits): boolean =>
  own.letters === 0 || (own.letters < deviceLetters && own.bytes + more <= deviceBytes);

/** The dead letters of a store, as far as this process knows: some 130 bytes for each, and as much for each device. */
export function createKnownLetters(letters: Iterable<Pick<LetterInfo, 'id' | 'bytes'>> = []) {
  const sizes = new Map<string, number>();
  const devices = new Map<string, Amount>();
  const ofDevice = (id: string): Amount => devices.get(folderOfId(id)) ?? nothing;

  /** @param bytes of the one that replaces an earlier one of the same id; without it, that has gone */
  function set(id: string, bytes?: number): void {
    const [before, own] = [sizes.get(id), ofDevice(id)];
    const letters = own.letters + Number(bytes !== undefined) - Number(before !== undefined);
    if (letters === 0) devices.delete(folderOfId(id));
    else devices.set(folderOfId(id), { letters, bytes: own.bytes + (bytes ?? 0) - (before ?? 0) });
    if (bytes === undefined) sizes.delete(id);
    else sizes.set(id, bytes);
  }

  for (const { id, bytes } of letters) set(id, bytes);
  return {
    bytesOf: (id: string) => sizes.get(id),
    ofDevice,
    among: (ids: Pick<ReadonlySet<string>, 'has'>) =>
      [...sizes].flatMap(([id, bytes]) => (ids.has(id) ? [{ id, bytes }] : [])),
    add: set,
    delete: (id: string) => set(id),
  };
}
