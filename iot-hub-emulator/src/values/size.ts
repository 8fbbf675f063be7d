const slot = 16;
const deepest = 8;

/**
 * Roughly the bytes that a value of texts, numbers, byte arrays and objects of these takes in memory. A text counts two bytes
 * a character; a byte array, which may be the end of a larger one, half a kilobyte more.
 */
export function sizeOf(value: unknown, depth = 0): number {
  if (typeof value === 'string') return 2 * value.length + slot;
  if (typeof value !== 'object' || value === null || depth > deepest) return slot;
  if (value instanceof Uint8Array) return value.byteLength + 32 * slot;
  let size = 2 * slot;
  for (const name in value) size += slot + sizeOf((value as Record<string, unknown>)[name], depth + 1);
  return size;
}
