import { describe, expect, it, vi } from 'vitest';
import { withOrderedTimers } from '../support/orderedTimers.ts';
import { crashingAt, delayedAt, neverCrashing } from '../support/processLife.ts';
import { longestPauseMs, names, partitions, type Run, run } from './support/instances.ts';
import { standIns } from './support/standIns.ts';

// Of four instances that come and go one dies at each of its await points in turn: in a round, a claim, the opening of a
// partition, a renewal, a message, a checkpoint, a drain, a release. Or what it does there is late, and done when another
// has taken over. Hub, store and clock are in memory, so that each run is the same as the one before.

vi.mock('@azure/event-hubs', async (sdk) => (await import('./support/standIns.ts')).withStandIns(await sdk<object>()));

const surroundings = { clients: standIns, ...withOrderedTimers() };

/** What holds whichever instance fails, and however. */
function expectSound({ effects, unmarked, writes, all, progress, newest }: Run, place: string) {
  expect([...new Set(effects)].sort(), place).toEqual([...all].sort());
  expect(
    progress.map((one) => one?.sequenceNumber),
    place,
  ).toEqual(partitions.map(() => newest));
  expect(unmarked, place).toEqual([]);
  for (const partition of partitions) {
    const own = writes.filter((write) => write.partition === partition);
    const [epochs, positions] = [own.map(({ epoch }) => epoch), own.map(({ sequenceNumber }) => sequenceNumber)];
    expect(epochs, `${place}: nobody writes behind who came later`).toEqual(epochs.toSorted((a, b) => a - b));
    expect(positions, `${place}: no checkpoint goes back`).toEqual(positions.toSorted((a, b) => a - b));
    const readers = new Set(own.map(({ epoch, owner }) => `${epoch} ${owner}`));
    expect(readers.size, `${place}: one reader an epoch`).toBe(new Set(epochs).size);
  }
}

/** Each device's messages took effect in hub order, the first time. */
function expectOrder({ effects }: Run, place: string) {
  const first = [...new Set(effects)].map((mark) => mark.split(':').map(Number) as [number, number]);
  for (const [partition, device] of partitions.flatMap((id) => [0, 1, 2].map((rest) => [Number(id), rest] as const))) {
    const numbers = first.filter(([id, number]) => id === partition && number % 3 === device).map(([, n]) => n);
    expect(numbers, place).toEqual(numbers.toSorted((a, b) => a - b));
  }
}

/** Where somebody has died. */
function expectWhole(outcome: Run, place: string) {
  expectSound(outcome, place);
  expectOrder(outcome, place);
  expect(outcome.repeated, place).toEqual([]);
}

const victims = names.slice(0, -1);

/** How many await points an instance comes to when nobody fails. */
async function pointsOf(victim: (typeof names)[number]): Promise<number> {
  const unharmed = neverCrashing();
  await run(surroundings, { [victim]: unharmed });
  return unharmed.points();
}

describe('instances that share a hub', () => {
  it('handle each message once while instances join and leave and none dies', async () => {
    const whole = await run(surroundings, {});
    expectSound(whole, 'nobody died');
    expectOrder(whole, 'nobody died');
    expect(whole.effects).toHaveLength(whole.all.length);
    expect(new Set(whole.writes.map(({ owner }) => owner)).size).toBe(names.length);
  });

  it.each(victims)('lose nothing, and repeat nothing in a checkpoint, whenever the %s one dies', async (victim) => {
    const points = await pointsOf(victim);
    expect(points).toBeGreaterThan(50);
    for (let crashAt = 1; crashAt <= points; crashAt += 1) {
      const place = `${victim} died at point ${crashAt} of ${points}`;
      expectWhole(await run(surroundings, { [victim]: crashingAt(crashAt) }), place);
    }
  });

  it('lose nothing, and repeat nothing in a checkpoint, when the successor dies as well', async () => {
    const [points, pointsOfNext] = [await pointsOf('first'), await pointsOf('second')];
    for (let crashAt = 1; crashAt <= points; crashAt += 1) {
      const then = 1 + ((crashAt * 7) % pointsOfNext);
      const outcome = await run(surroundings, { first: crashingAt(crashAt), second: crashingAt(then) });
      expectWhole(outcome, `first died at point ${crashAt}, second at its ${then}`);
    }
  });

  it.each(victims.flatMap((victim) => [[victim, 'step'] as const, [victim, 'process'] as const]))(
    'lose nothing, and have one writer only, at whichever step the %s one pauses for longer than its ownership: its %s',
    async (victim, extent) => {
      const points = await pointsOf(victim);
      for (let at = 1; at <= points; at += 1) {
        const outcome = await run(surroundings, { [victim]: delayedAt(at, longestPauseMs, extent) });
        expectSound(outcome, `${victim} was held up at point ${at} of ${points}`);
      }
    },
  );
});
