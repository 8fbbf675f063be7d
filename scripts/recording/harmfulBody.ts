/** An AMQP value in which so many lists are nested: deeper than a reader may follow. */
export function nestedLists(depth: number): Buffer {
  let value: Uint8Array = Buffer.from([0x45]); // an empty list
  for (let level = 0; level < depth; level += 1) {
    const head = Buffer.from([0xd0, 0, 0, 0, 0, 0, 0, 0, 1]); // list32: bytes, then one item
    head.writeUInt32BE(value.length + 4, 1);
    value = Buffer.concat([head, value]);
  }
  return Buffer.concat([Buffer.from([0x00, 0x53, 0x77]), value]); // section amqp-value
}
