const leastBytes = 16 * 1024;

/**
 * Joins the pieces of a body as they come. They are copied into one buffer that grows: thousands of pieces of a byte would
 * hold a hundred times as much memory as the body. The only piece of most bodies is not copied.
 */
export interface Joined {
  add(piece: Buffer): void;
  bytes(): Buffer;
}

/** @param most bytes that will come, as far as is known */
export function createJoined(most = Number.POSITIVE_INFINITY): Joined {
  let buffer: Buffer = Buffer.alloc(0);
  let length = 0;

  return {
    add(piece) {
      const needed = length + piece.length;
      if (length === 0) buffer = piece;
      else {
        if (needed > buffer.length) {
          const larger = Buffer.allocUnsafe(Math.max(Math.min(2 * length, most), needed, leastBytes));
          buffer.copy(larger, 0, 0, length);
          buffer = larger;
        }
        piece.copy(buffer, length);
      }
      length = needed;
    },
    bytes: () => (length === buffer.length ? buffer : buffer.subarray(0, length)),
  };
}
