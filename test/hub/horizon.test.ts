import { expect, it } from 'vitest';
import { knownHorizon, openHorizon } from '../../src/hub/partition/horizon.ts';

it('A horizon that the reader before has left takes what is newer for unseen', () => {
  const { look, mayBeRepeat, known } = knownHorizon(7);
  expect([look(), mayBeRepeat(7), mayBeRepeat(8), known()]).toEqual([undefined, true, false, 7]);
});

it('A horizon that nobody has left is the newest event when the first ones are here', async () => {
  let newest = 3;
  const horizon = openHorizon(
    async () => newest,
    () => {},
  );
  expect([horizon.known(), horizon.mayBeRepeat(1_000)]).toEqual([undefined, true]);
  newest = 7;
  await horizon.look();
  newest = 9;
  expect(horizon.look()).toBeUndefined();
  expect([horizon.mayBeRepeat(7), horizon.mayBeRepeat(8), horizon.known()]).toEqual([true, false, 7]);
});

it('A horizon that cannot be had makes everything a possible repeat, and is asked for again', async () => {
  const troubles: string[] = [];
  const answers = [Promise.reject(new Error('no answer')), Promise.resolve(7)];
  const horizon = openHorizon(
    () => answers.shift() ?? Promise.resolve(0),
    (_error, what) => troubles.push(what),
  );
  await horizon.look();
  expect([horizon.mayBeRepeat(8), horizon.known()]).toEqual([true, undefined]);
  await horizon.look();
  expect([horizon.mayBeRepeat(8), horizon.known()]).toEqual([false, 7]);
  expect(troubles).toEqual(['newest event not known: whatever comes may be a repeat']);
});
