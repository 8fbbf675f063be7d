const slabSize = 64 * 1024;

/**
 * Copies bytes to where only events are kept: not the encoder's buffer, which has room to spare, nor Node's pool, where
 * they would keep alive whatever was encoded beside them. Sharing slabs saves a third of the memory of small events.
 */
export function createKeeper(): (bytes: Buffer) => Buffer {
  let slab = Buffer.alloc(0);
  let used = 0;
  return (bytes) => {
    if (bytes.length > slabSize / 4) return Buffer.concat([bytes]);
    if (used + bytes.length > slab.length) {
      slab = Buffer.allocUnsafeSlow(slabSize);
      used = 0;
    }
    const kept = slab.subarray(used, used + bytes.length);
    used += bytes.copy(kept);
    return kept;
  };
}
