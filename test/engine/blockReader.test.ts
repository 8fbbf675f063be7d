import { closeSync, ftruncateSync, openSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import * as fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { folderForEach } from '../../iot-hub-emulator/test/support/fixtures.ts';
import { type BlockReader, createBlockReader } from '../../src/engine/spool/blockReader.ts';

const blockBytes = 64 * 1024;
const directory = folderForEach('blocks');
let file: number;
let reader: BlockReader;
beforeEach(() => {
  file = openSync(join(directory, 'file'), 'w+');
  reader = createBlockReader(file);
});
afterEach(() => closeSync(file));

function write(at: number, length: number, value: number) {
  reader.writing(at, length);
  writeSync(file, Buffer.alloc(length, value), 0, length, at);
}

describe('a block reader', () => {
  it('reads data of the last block without the file', async () => {
    for (let value = 0; value < 64; value += 1) write(value * 1024, 1024, value);
    const first = reader.read(0, 1024);
    expect(first).toBeInstanceOf(Promise);
    await first;
    ftruncateSync(file, 0);
    for (let value = 0; value < 64; value += 1)
      expect(reader.read(value * 1024, 1024)).toEqual(Buffer.alloc(1024, value));
    const beyond = reader.read(blockBytes - 1, 2);
    expect(beyond).toBeInstanceOf(Promise);
    await beyond;
  });

  it('reads the file once for concurrent reads of one block', async () => {
    for (let value = 0; value < 64; value += 1) write(value * 1024, 1024, value);
    const first = reader.read(0, 1024);
    const second = reader.read(1024, 1024);
    await first;
    expect(reader.read(2048, 1024)).toEqual(Buffer.alloc(1024, 2));
    expect(await second).toEqual(Buffer.alloc(1024, 1));
  });

  it('reads data larger than a block', async () => {
    write(10, 5 * blockBytes, 7);
    const bytes = await reader.read(10, 5 * blockBytes);
    expect(bytes.equals(Buffer.alloc(5 * blockBytes, 7))).toBe(true);
  });

  it('returns copies, so that a small piece does not keep a block in memory', async () => {
    write(0, 1024, 1);
    for (let turn = 0; turn < 2; turn += 1) {
      expect((await reader.read(0, 1024)).buffer.byteLength).toBeLessThan(blockBytes);
    }
  });

  it('fails when the file cannot be read', async () => {
    const writeOnly = openSync(join(directory, 'file'), 'w');
    reader = createBlockReader(writeOnly);
    const failure = async () => Promise.resolve(reader.read(0, 1024)).catch((error: unknown) => error);
    const first = await failure();
    expect(first).toMatchObject({ code: 'EBADF' });
    expect(await failure(), 'of an attempt of its own').not.toBe(first);
    closeSync(writeOnly);
  });

  it('does not keep an earlier read that ends late as the last block', async () => {
    const far = 400 * blockBytes;
    write(0, far, 1);
    write(far, 1024, 2);
    const early = reader.read(0, far);
    await reader.read(far, 1024);
    await early;
    expect(reader.read(far, 1024)).toEqual(Buffer.alloc(1024, 2));
  });

  it('forgets only the part of the last block behind the position of a write', async () => {
    write(0, 3 * blockBytes, 1);
    await reader.read(blockBytes, 1024);
    write(blockBytes - 1024, 1024, 2);
    write(2 * blockBytes, 1024, 2);
    expect(reader.read(2 * blockBytes - 1024, 1024)).toEqual(Buffer.alloc(1024, 1));
    write(blockBytes + 2048, 1024, 2);
    expect(reader.read(blockBytes + 1024, 1024)).toEqual(Buffer.alloc(1024, 1));
    const written = reader.read(blockBytes + 2048, 1024);
    expect(written).toBeInstanceOf(Promise);
    expect(await written).toEqual(Buffer.alloc(1024, 2));
  });

  it('never returns overwritten bytes (300 random sequences)', async () => {
    const place = { at: fc.integer({ min: 0, max: 3 * blockBytes }), length: fc.integer({ min: 1, max: 40_000 }) };
    const step = fc.oneof(
      fc.record({ write: fc.record(place) }),
      fc.record({ read: fc.record(place), wait: fc.boolean() }),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 40 }), async (steps) => {
        reader = createBlockReader(file);
        const model = Buffer.alloc(4 * blockBytes);
        write(0, model.length, 0);
        const pending: Promise<void>[] = [];
        /** Reads that have begun; nothing is written there until they end. */
        const open = new Set<{ at: number; length: number }>();
        for (const [index, one] of steps.entries()) {
          if ('write' in one) {
            const { at, length } = one.write;
            if ([...open].some((other) => at < other.at + other.length && other.at < at + length)) continue;
            write(at, length, index + 1);
            model.fill(index + 1, at, at + length);
          } else {
            const { at, length } = one.read;
            const due = Buffer.from(model.subarray(at, at + length));
            open.add(one.read);
            const reading = Promise.resolve(reader.read(at, length)).then((bytes) => {
              open.delete(one.read);
              expect(bytes.equals(due)).toBe(true);
            });
            pending.push(reading);
            if (one.wait) await reading;
          }
        }
        await Promise.all(pending);
      }),
      { numRuns: 300 },
    );
  });
});
