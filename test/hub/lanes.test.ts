import fc from 'fast-check';
import { expect, it } from 'vitest';
import { createLanes } from '../../src/hub/partition/lanes.ts';

/** Work that ends when told to, and says when it begins. */
function work(log: string[], name: string) {
  let end = () => {};
  const ended = new Promise<void>((resolve) => {
    end = resolve;
  });
  return {
    end,
    run: async () => {
      log.push(`${name} begins`);
      await ended;
      log.push(`${name} ends`);
    },
  };
}

const settle = () => new Promise<void>((resolve) => setImmediate(resolve));

it('one device is handled one message after the other, devices side by side', async () => {
  const lanes = createLanes();
  const log: string[] = [];
  const [a1, a2, b1] = ['a1', 'a2', 'b1'].map((name) => work(log, name)) as [
    ReturnType<typeof work>,
    ReturnType<typeof work>,
    ReturnType<typeof work>,
  ];
  lanes.run('a', a1.run);
  lanes.run('a', a2.run);
  lanes.run('b', b1.run);
  await settle();
  expect(log).toEqual(['a1 begins', 'b1 begins']);
  b1.end();
  await settle();
  expect(log).toEqual(['a1 begins', 'b1 begins', 'b1 ends']);
  a1.end();
  await settle();
  expect(log.slice(3)).toEqual(['a1 ends', 'a2 begins']);
  a2.end();
  await settle();
  expect(lanes.length('a') + lanes.length('b')).toBe(0);
});

it('keeps the order of every device in any interleaving', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.tuple(fc.constantFrom('a', 'b', 'c'), fc.nat(3)), { maxLength: 40 }),
      async (messages) => {
        const lanes = createLanes();
        const seen = new Map<string, number[]>();
        let running = new Set<string>();
        for (const [index, [device, ticks]] of messages.entries()) {
          lanes.run(device, async () => {
            expect(running.has(device)).toBe(false);
            running = running.add(device);
            for (let tick = 0; tick < ticks; tick += 1) await Promise.resolve();
            seen.set(device, [...(seen.get(device) ?? []), index]);
            running.delete(device);
          });
        }
        while (['a', 'b', 'c'].some((device) => lanes.length(device) > 0)) await settle();
        for (const order of seen.values()) expect(order).toEqual([...order].sort((a, b) => a - b));
        expect([...seen.values()].flat()).toHaveLength(messages.length);
      },
    ),
    { numRuns: 200 },
  );
});
