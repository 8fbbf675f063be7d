import fc from 'fast-check';
import { generate } from 'mqtt-packet';
import { expect, it } from 'vitest';
import { watchPacketSizes } from '../../edge/src/modules/brokerConnection.ts';

/** Sizes that are reported for a stream that comes in pieces. */
function reported(bytes: Buffer, mostBytes: number, pieces: readonly number[]): number[] {
  const found: number[] = [];
  const watch = watchPacketSizes(mostBytes, (size) => void found.push(size));
  let at = 0;
  for (const piece of pieces) {
    watch(bytes.subarray(at, at + piece));
    at += piece;
  }
  watch(bytes.subarray(at));
  return found;
}

const publish = (bytes: number) =>
  generate({ cmd: 'publish', topic: 'a', payload: Buffer.alloc(bytes, 0xff), qos: 0, dup: false, retain: false });
const ping = generate({ cmd: 'pingresp' });

it('only a packet over the limit is reported, for any chunks', () => {
  const sizes = fc.array(fc.integer({ min: 0, max: 500 }), { maxLength: 10 });
  const pieces = fc.array(fc.integer({ min: 0, max: 300 }), { maxLength: 20 });
  fc.assert(
    fc.property(sizes, pieces, (payloads, cuts) => {
      const stream = Buffer.concat(payloads.flatMap((size) => [publish(size), ping]));
      // topic with its length, then the payload
      const first = payloads.map((size) => size + 3).find((size) => size > 300);
      expect(reported(stream, 300, cuts)).toEqual(first === undefined ? [] : [first]);
    }),
    { numRuns: 1000 },
  );
});

it('a packet is reported before it is complete', () =>
  expect(reported(publish(100_000).subarray(0, 4), 50_000, [])).toEqual([100_003]));
