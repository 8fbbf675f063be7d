import { describe, expect, it } from 'vitest';
import { withFakeTimers } from '../support/waiting.ts';
import { type Given, runToTheEnd } from './support/restarts.ts';

// Processes over the same partitions, one after the other: messages end them, others are only slow.

withFakeTimers();

const timeout = 60_000;

const fatal = { isFatal: true };
const row = (device: string, from: number, to: number) =>
  Array.from({ length: to - from }, (_, index) => `${device}${from + index}`).join(' ');
const named = (count: number, first: number) =>
  Array.from({ length: count }, (_, index) => String.fromCharCode(first + index));
const numbered = (devices: readonly string[]) => devices.map((device, index) => `${device}${index}`).join(' ');
const ofDevice = (names: readonly string[], device: string) => names.filter((name) => name.startsWith(device));

describe('a message that ends the process', () => {
  it('is parked after the shutdowns that identify it and three isolated runs, and all others are handled in order', async () => {
    const given = { partitions: ['a0 k1 b2 k3 a4 b5', 'c0 d1 c2'], devices: { k: fatal } };
    const { handled, parked, ends } = await runToTheEnd(given);
    expect(parked).toEqual(['k1', 'k3']);
    expect(ends.length).toBeLessThanOrEqual(7 + 5);
    expect(handled.toSorted()).toEqual(['a0', 'a4', 'b2', 'b5', 'c0', 'c2', 'd1']);
    for (const device of ['a', 'b', 'c'])
      expect(ofDevice(handled, device)).toEqual(ofDevice(handled, device).toSorted());
  });

  const idle = 'abcdefghij'.split('');
  const many = named(20, 0x400).toSpliced(3, 0, 'k').toSpliced(19, 0, 'l');
  it.each<[what: string, given: Given, expected: { parked: string[]; handled: number; mostEnds: number }]>([
    [
      'costs fewer shutdowns than the first when there are others like it',
      { partitions: ['k0 a1 l2', 'b0 m1'], devices: { k: fatal, l: fatal, m: fatal } },
      { parked: ['k0', 'l2', 'm1'], handled: 2, mostEnds: 3 * 5 },
    ],
    [
      'is found among many others beside another like it, whichever of them begin first',
      { partitions: [numbered(many)], devices: { k: fatal, l: fatal } },
      { parked: ['k3', 'l19'], handled: 20, mostEnds: Number.POSITIVE_INFINITY },
    ],
    [
      'is found as soon behind quick messages of its device without checkpoints',
      { partitions: [`${row('k', 0, 40)} x40 k41`], devices: { x: fatal } },
      { parked: ['x40'], handled: 41, mostEnds: 5 },
    ],
    [
      'is found behind more devices that do not fetch their replies than suspects may be in work (C4)',
      {
        partitions: [`${numbered(idle)} x10 k11`],
        devices: { ...Object.fromEntries(idle.map((device) => [device, { sleepsMs: 60_000 }])), k: fatal },
        mostSuspects: 4,
      },
      { parked: ['k11'], handled: 11, mostEnds: 9 },
    ],
    [
      'that ends the process even when it is parked is skipped after one more shutdown',
      { partitions: ['a0 k1 k2 b3'], devices: { k: { isFatal: true, isFatalUnexecuted: true } } },
      { parked: [], handled: 2, mostEnds: 2 * 6 },
    ],
    [
      'is the only one that is parked beside slow innocent messages',
      {
        partitions: ['s0 t1 a2 k3 s4', 'u0 b1'],
        devices: { k: fatal, s: { ms: 40_000 }, t: { ms: 200_000 }, u: { ms: 12_000 } },
      },
      { parked: ['k3'], handled: 6, mostEnds: 7 },
    ],
    [
      'is found behind many that hang',
      {
        partitions: [`${numbered(idle)} k10 x11`],
        devices: { ...Object.fromEntries(idle.map((device) => [device, { ms: 300_000 }])), k: fatal },
      },
      { parked: ['k10'], handled: 11, mostEnds: 8 },
    ],
    [
      'is found during a slow flood, although the position moves between the shutdowns',
      {
        partitions: [`${row('f', 0, 30)} ${row('g', 30, 60)} k60`],
        devices: { f: { ms: 2_000 }, k: { ms: 9_000, isFatal: true } },
        mostSuspects: 5,
      },
      { parked: ['k60'], handled: 60, mostEnds: 14 },
    ],
  ])('%s', async (_, given, expected) => {
    const { handled, parked, ends } = await runToTheEnd(given);
    expect([parked.toSorted(), handled.length]).toEqual([expected.parked, expected.handled]);
    expect(ends.length).toBeLessThanOrEqual(expected.mostEnds);
  });
});

describe('the neighbours of a message that ends the process', { timeout }, () => {
  const quick = named(40, 0x4e00);

  it.each([
    { slow: 0, fatalMs: 10 },
    { slow: 20, fatalMs: 10 },
    { slow: 20, fatalMs: 60_000 },
    { slow: 80, fatalMs: 10 },
    { slow: 80, fatalMs: 60_000 },
  ])(
    'are handled with $slow slow ones among them, 40 quick ones within seconds, if it takes $fatalMs ms',
    async ({ slow, fatalMs }) => {
      const slows = named(slow, 0x400);
      const all = [...slows, 'k', ...quick];
      const rounds = Array.from({ length: 9 }, (_, round) => all.filter((one) => one !== 'k' || round === 1)).flat();
      const { handled, handledAfterMs, parked, ends } = await runToTheEnd({
        partitions: [numbered(rounds)],
        devices: {
          k: { isFatal: true, ms: fatalMs },
          ...Object.fromEntries(slows.map((device) => [device, { ms: 8_000 }])),
        },
        mostSuspects: 250,
      });
      expect(parked).toEqual([`k${all.length - 1 + slow}`]);
      expect(handled).toHaveLength(rounds.length - 1);
      expect(ends.length).toBeLessThanOrEqual(Math.log2(all.length) + 3);
      const lastQuick = Math.max(
        ...handled.flatMap((name) => (quick.includes(name.slice(0, 1)) ? (handledAfterMs.get(name) ?? 0) : [])),
      );
      expect(lastQuick).toBeLessThan(10_000);
      const suspects = rounds.slice(0, all.length - 1).map((of, index) => handledAfterMs.get(`${of}${index}`) ?? 0);
      expect(Math.max(...suspects)).toBeLessThan(60_000);
    },
  );
});

describe('a message that waits for a connection to the backend and then ends the process', { timeout }, () => {
  it('is found, although batches begin beside those that hold every connection', async () => {
    const slows = named(200, 0x400);
    const quick = named(40, 0x4e00);
    const rounds = [
      [...slows, ...quick.slice(0, 3), 'k', ...quick.slice(3)],
      ...Array.from({ length: 8 }, () => quick),
    ];
    const partitions = [0, 1, 2, 3].map((partition) =>
      numbered(rounds.flatMap((round) => round.filter((_, index) => index % 4 === partition))),
    );
    const { handled, handledAfterMs, parked, ends } = await runToTheEnd({
      partitions,
      devices: { k: { ...fatal, ms: 0 }, ...Object.fromEntries(slows.map((of) => [of, { ms: 8_000, calls: 2 }])) },
      ...{ mostSuspects: 500, mostMessages: 500, connections: 128 },
    });
    const isQuick = (name: string) => quick.includes(name.slice(0, 1));
    const lastQuick = () => Math.max(...handled.filter(isQuick).map((name) => handledAfterMs.get(name) ?? 0));
    expect(parked).toEqual(['k50']);
    expect(handled).toHaveLength(200 + 9 * 40);
    expect(ends.length).toBeLessThanOrEqual(16);
    expect(lastQuick()).toBeLessThan(300_000);
  });
});

it('kills from outside cost little: no message waits long for another device', async () => {
  const devices = 'abcdefghij'.split('');
  const messages = Array.from({ length: 400 }, (_, index) => `${devices[index % devices.length]}${index}`).join(' ');
  const quiet = await runToTheEnd({ partitions: [messages, messages] });
  const killed = await runToTheEnd({
    partitions: [messages, messages],
    interrupted: (session) => (session < 12 ? { killMs: 100 } : undefined),
  });
  expect(killed.ends.length).toBeGreaterThan(4);
  expect(killed.handled.toSorted()).toEqual(quiet.handled.toSorted());
  expect(killed.parked).toEqual([]);
  expect(killed.ranMs).toBeLessThanOrEqual(1.5 * quiet.ranMs + 12 * 100);
});

describe('an innocent message', () => {
  it('in an isolated run at two shutdowns with other causes is executed at the third attempt', async () => {
    const { handled, parked, ends } = await runToTheEnd({
      partitions: ['s0 a1'],
      devices: { s: { ms: 5_000 } },
      interrupted: (session) => (session < 4 ? { killMs: 2_000 } : undefined),
    });
    expect(ends.slice(2)).toEqual([['s0'], ['s0']]);
    expect([handled.toSorted(), parked]).toEqual([['a1', 's0'], []]);
  });

  it('is not counted at a clean stop, and its earlier count stays', async () => {
    const { parked, ends } = await runToTheEnd({
      partitions: ['k0 a1'],
      devices: { k: { ms: 3_000, isFatal: true } },
      interrupted: (session) => (session % 2 === 1 ? { stopMs: 1_000 } : undefined),
    });
    expect(parked).toEqual(['k0']);
    expect(ends.slice(2)).toEqual([['k0'], ['k0'], ['k0']]);
  });
});

it('normal running records nothing for any number of messages', async () => {
  const { writes, written } = await runToTheEnd({ partitions: [row('a', 0, 99)] });
  expect(writes).toBeLessThanOrEqual(3);
  expect(written[0]).not.toHaveProperty('note');
});
