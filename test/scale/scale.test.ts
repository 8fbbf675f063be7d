import { describe, expect, it } from 'vitest';
import { faultsOf } from './outcome.ts';
import { runScenario } from './run.ts';
import { scenarios } from './scenarios.ts';

// Three instances on six partitions; `npm run bench -- scale` has 32 on 32 (D411).

const small = { seed: 1, instances: 3, partitions: 6 };

const run = (name: string, options = small) => {
  const scenario = scenarios[name];
  if (scenario === undefined) throw new Error(`there is no scenario ${name}`);
  return runScenario(name, scenario, options).then((outcome) => ({ outcome, faults: faultsOf(outcome, scenario) }));
};

describe('instances that share a hub, in a simulated world with the seed 1,', () => {
  it.each([
    ...['start of all', 'one, all, one', 'half crash: stands still', 'half crash: without storage'],
    'storage refuses half',
  ])('lose nothing, and each partition has one reader in the end: %s', async (name) => {
    const { outcome, faults } = await run(name);
    expect(faults).toEqual([]);
    expect(outcome.work.sent).toBeGreaterThan(300);
  });
  it('that start together have their shares after two rounds or three, and ask the hub twice about each partition', async () => {
    const { outcome } = await run('start of all', { ...small, instances: 12, partitions: 12 });
    expect(outcome.seconds).toBeLessThanOrEqual(15);
    expect(outcome.unread.worst).toBeLessThanOrEqual(5);
    expect(outcome.mostQuestions).toBeLessThanOrEqual(24); // it answers 50
  });
  it('do the same each time', async () => {
    const [first, again] = [await run('one crash'), await run('one crash')];
    expect(again).toEqual(first);
    expect(first.faults).toEqual([]);
    expect(await run('one crash', { ...small, seed: 2 })).not.toEqual(first);
  });
});

describe('what must hold', () => {
  const work = { sent: 100, lost: 0, parked: 0, repeats: 0, mostRepeats: 0, inversions: 0 };
  const well = { isBalanced: true, uncleanEnds: 0, unread: { median: 2, worst: 30 }, work };

  it.each([
    ['a partition without a reader', { ...well, isBalanced: false }, 'not shared evenly'],
    ['a hand-over that takes long', { ...well, unread: { median: 2, worst: 31 } }, 'no reader for 31 s'],
    ['a message that was never handled', { ...well, work: { ...work, lost: 1 } }, '1 messages are lost'],
    [
      'a message that another of its device has overtaken',
      { ...well, work: { ...work, inversions: 2 } },
      'behind a later',
    ],
    ['a repeat after a clean stop', { ...well, work: { ...work, mostRepeats: 1 } }, 'handled again'],
    ['a message that is parked', { ...well, work: { ...work, parked: 1 } }, 'parked'],
    ['an end that was not made', { ...well, uncleanEnds: 1 }, 'ended by themselves'],
  ])('is found not to hold: %s', (_, outcome, fault) => {
    expect(faultsOf(outcome, {})).toEqual([expect.stringContaining(fault)]);
    expect(faultsOf(well, {})).toEqual([]);
  });
  it('allows the repeats of an unclean end, of each up to 5 s of messages and those in flight', () => {
    const repeated = (mostRepeats: number) =>
      faultsOf({ ...well, uncleanEnds: 1, work: { ...work, mostRepeats } }, { uncleanEnds: 1 }).length;
    expect([repeated(40), repeated(41)]).toEqual([0, 1]);
  });
});
