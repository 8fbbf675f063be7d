import { folderOfId } from './deadLetter.ts';
import type { LetterInfo } from './letterStorage.ts';

export interface DeadLetterLimits {
  /** Most dead letters of one device, and of all. */
  readonly deviceLetters: number;
  readonly maxLetters: number;
  /** Most bytes of one device's dead letters, and of all. The newest one of a device may have more. */
  readonly deviceBytes: number;
  readonly maxBytes: number;
  /** Older dead letters are deleted. */
  readonly retentionMs: number;
}

/** How many dead letters a device has, and their bytes together. */
export interface DeviceLetters {
  readonly letters: number;
  readonly bytes: number;
}

/**
 * Ids of the dead letters that must be deleted, the oldest first: those that are too old, then those beyond the limits of
 * their device, then those beyond the limits of all.
 */
export function excessOf(entries: Iterable<LetterInfo>, limits: DeadLetterLimits, now: number): string[] {
  const newestFirst = [...entries].sort((a, b) => b.at - a.at || (a.id < b.id ? 1 : -1));
  const devices = new Map<string, { letters: number; bytes: number }>();
  const all = { letters: 0, bytes: 0 };

  function stays({ id, bytes, at }: LetterInfo): boolean {
    if (now - at > limits.retentionMs) return false;
    const device = devices.get(folderOfId(id)) ?? { letters: 0, bytes: 0 };
    devices.set(folderOfId(id), device);
    device.letters += 1;
    device.bytes += bytes;
    if (device.letters > limits.deviceLetters) return false;
    if (device.letters > 1 && device.bytes > limits.deviceBytes) return false;
    all.letters += 1;
    all.bytes += bytes;
    return all.letters <= limits.maxLetters && all.bytes <= limits.maxBytes;
  }

  return newestFirst
    .filter((entry) => !stays(entry))
    .map(({ id }) => id)
    .reverse();
}

/** Whether a device may have one more of so many bytes. A first one always fits. */
export const fitsQuota = (
  more: number,
  own: DeviceLetters,
  { deviceLetters, deviceBytes }: DeadLetterLimits,
): boolean => own.letters === 0 || (own.letters < deviceLetters && own.bytes + more <= deviceBytes);
