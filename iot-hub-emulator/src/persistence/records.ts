import { closeSync, ftruncateSync, openSync, readSync, renameSync, rmSync, writeSync } from 'node:fs';
import { crc32 } from 'node:zlib';

// file: record*
// record: length of the payload (u32 LE), its CRC-32 (u32 LE), the payload

/** A file of records to which records are added. What `append` has returned for is with the operating system. */
export interface RecordFile {
  /** Add a record, in several parts or one. Throws when the disk does, and then leaves the file as it was. */
  append(...parts: Buffer[]): void;
  /** Replace all records at once, or not at all. */
  replace(payloads: Iterable<readonly Buffer[]>): void;
  /** In bytes. */
  size(): number;
  close(): void;
}

/** What a record takes besides its payload, in bytes. */
export const headerSize = 8;
const maxPayload = 64 * 1024 * 1024;
const chunkSize = 4 * 1024 * 1024;

/**
 * Open the file, or make it (mode 0600), and hand each record that is whole to `read`; the payload may be used during the
 * call only. A torn or damaged record ends the file: it and what follows is cut off, since a crash tears the last one.
 */
export function openRecords(path: string, read: (payload: Buffer) => void): RecordFile {
  let file = openSync(path, 'a+', 0o600);
  let size = readAll(file, read);
  ftruncateSync(file, size);

  const write = (to: number, parts: readonly Buffer[], at: number): number => {
    const record = encode(parts);
    try {
      for (let done = 0; done < record.length; ) done += writeSync(to, record, done);
    } catch (error) {
      ftruncateSync(to, at);
      throw error;
    }
    return at + record.length;
  };

  return {
    append(...parts) {
      size = write(file, parts, size);
    },
    replace(payloads) {
      const draft = `${path}.new`;
      const fresh = openSync(draft, 'w', 0o600);
      let written = 0;
      try {
        for (const parts of payloads) written = write(fresh, parts, written);
        renameSync(draft, path);
      } catch (error) {
        rmSync(draft, { force: true });
        throw error;
      } finally {
        closeSync(fresh);
      }
      closeSync(file);
      file = openSync(path, 'a+', 0o600);
      size = written;
    },
    size: () => size,
    close() {
      closeSync(file);
      file = -1; // its number is the next file's
    },
  };
}

let scratch = Buffer.allocUnsafeSlow(64 * 1024);

function encode(parts: readonly Buffer[]): Buffer {
  const length = parts.reduce((sum, part) => sum + part.length, 0);
  if (scratch.length < headerSize + length) scratch = Buffer.allocUnsafeSlow(2 * (headerSize + length));
  let end = headerSize;
  for (const part of parts) end += part.copy(scratch, end);
  scratch.writeUInt32LE(length, 0);
  scratch.writeUInt32LE(crc32(scratch.subarray(headerSize, end)), 4);
  return scratch.subarray(0, end);
}

/** Read records up to the first that is not whole. The answer is how many bytes they take. */
function readAll(file: number, read: (payload: Buffer) => void): number {
  let buffer = Buffer.alloc(0);
  let taken = 0; // bytes of the file before the buffer
  for (;;) {
    const need = sizeOfFirst(buffer);
    if (need <= buffer.length) {
      const payload = buffer.subarray(headerSize, need);
      if (crc32(payload) !== buffer.readUInt32LE(4)) return taken;
      read(payload);
      taken += need;
      buffer = buffer.subarray(need);
      continue;
    }
    if (need > headerSize + maxPayload) return taken;
    const chunk = Buffer.allocUnsafe(Math.max(chunkSize, need));
    const got = readSync(file, chunk, 0, chunk.length, taken + buffer.length);
    if (got === 0) return taken;
    buffer = Buffer.concat([buffer, chunk.subarray(0, got)]);
  }
}

function sizeOfFirst(buffer: Buffer): number {
  return buffer.length < headerSize ? headerSize : headerSize + buffer.readUInt32LE(0);
}
