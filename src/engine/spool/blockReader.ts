import { read } from 'node:fs';
import { promisify } from 'node:util';

/**
 * Reads pieces of a file, a block at a time, and keeps the last block: pieces that are read in the order in which they were
 * written cost one access to the file for many of them.
 */
export interface BlockReader {
  /** A copy of the bytes, at once when they are in the last block. */
  read(at: number, length: number): Buffer | Promise<Buffer>;
  /** To be called before bytes from there on are written: those that were read are out of date. */
  writing(at: number, length: number): void;
}

const blockBytes = 64 * 1024;

const readAt = promisify(read);

/** @param file descriptor of the file */
export function createBlockReader(file: number): BlockReader {
  /** Of the file, in bytes: what is in the last block, and is up to date. */
  let [begin, end] = [0, 0];
  let block: Buffer | Promise<Buffer> = Buffer.alloc(0);

  /** A copy, because who keeps a part of it would keep the block in memory. */
  const copyOf = (from: Buffer, at: number, length: number): Buffer => Buffer.from(from.subarray(at, at + length));

  function readBlock(at: number, length: number): Promise<Buffer> {
    const bytes = Math.max(length, blockBytes);
    const reading = readAt(file, Buffer.allocUnsafeSlow(bytes), 0, bytes, at).then(
      ({ buffer }) => {
        if (block === reading) block = buffer;
        return buffer;
      },
      (error) => {
        if (block === reading) end = begin;
        throw error;
      },
    );
    [begin, end, block] = [at, at + bytes, reading];
    return reading;
  }

  return {
    read(at, length) {
      if (at < begin || at + length > end) return readBlock(at, length).then((read) => copyOf(read, 0, length));
      const inside = at - begin;
      if (block instanceof Promise) return block.then((read) => copyOf(read, inside, length));
      return copyOf(block, inside, length);
    },
    writing(at, length) {
      if (at < end && at + length > begin) end = Math.max(at, begin);
    },
  };
}
