/**
 * Follows the sizes of the MQTT packets in a stream of bytes. The client itself collects a packet of any size before it
 * hands it over, and what one module sends must not fill the memory.
 * @param tooLarge called once, as soon as the head of a larger packet is there
 */
export function watchPacketSizes(mostBytes: number, tooLarge: (bytes: number) => void): (chunk: Buffer) => void {
  // one byte of type; the length of the rest, seven bits in each byte, the lowest first; the rest
  let state: 'type' | 'length' | 'rest' | 'over' = 'type';
  let [length, factor] = [0, 1];

  return (chunk) => {
    for (let at = 0; at < chunk.length && state !== 'over'; ) {
      if (state === 'rest') {
        const taken = Math.min(length, chunk.length - at);
        length -= taken;
        at += taken;
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
        if (length > mostBytes) {
          state = 'over';
          tooLarge(length);
          return;
        }
      }
      if (state === 'rest' && length === 0) state = 'type';
    }
  };
}
