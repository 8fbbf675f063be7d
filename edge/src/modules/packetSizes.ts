/**
 * Watches the sizes of MQTT packets in a stream of bytes. The client buffers a packet of any size before it delivers it;
 * a single module must not be able to fill the memory.
 * @param onTooLarge called once, as soon as the header of a larger packet has arrived
 */
export function watchPacketSizes(maxBytes: number, onTooLarge: (bytes: number) => void): (chunk: Buffer) => void {
  // Packet: one byte for the type; the length of the rest, 7 bits per byte, lowest first; the rest
  let state: 'type' | 'length' | 'rest' | 'over' = 'type';
  let [length, factor] = [0, 1];

  return (chunk) => {
    for (let at = 0; at < chunk.length && state !== 'over'; ) {
      if (state === 'rest') {
        const skipped = Math.min(length, chunk.length - at);
        length -= skipped;
        at += skipped;
      } else {
        const byte = chunk[at] ?? 0;
        at += 1;
        if (state === 'type') {
          [state, length, factor] = ['length', 0, 1];
          continue;
        }
        length += (byte & 0x7f) * factor;
        factor *= 128;
        if (byte >= 0x80) continue;
        state = 'rest';
        if (length > maxBytes) {
          state = 'over';
          onTooLarge(length);
          return;
        }
      }
      if (state === 'rest' && length === 0) state = 'type';
    }
  };
}
