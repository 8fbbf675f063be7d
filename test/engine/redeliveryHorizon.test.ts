import { expect, it } from 'vitest';
import { knownRedeliveryHorizon, openRedeliveryHorizon } from '../../src/engine/progress/redeliveryHorizon.ts';

it('A redelivery horizon that the reader before has left takes what is newer for unseen', () => {
  const { look, redelivered, known } = knownRedeliveryHorizon(7);
  expect([look(), redelivered(7), redelivered(8), known()]).toEqual([undefined, true, false, 7]);
});

it('Without a release, every event that the hub had when the session read its first ones may be a repeat', async () => {
  let newest = 3;
  const redeliveryHorizon = openRedeliveryHorizon(
    async () => newest,
    () => {},
  );
  expect([redeliveryHorizon.known(), redeliveryHorizon.redelivered(1_000)]).toEqual([undefined, true]);
  newest = 7;
  await redeliveryHorizon.look();
  newest = 9;
  expect(redeliveryHorizon.look()).toBeUndefined();
  expect([redeliveryHorizon.redelivered(7), redeliveryHorizon.redelivered(8), redeliveryHorizon.known()]).toEqual([
    true,
    false,
    7,
  ]);
});

it('A redelivery horizon that cannot be had makes everything a possible repeat, and is asked for again', async () => {
  const troubles: string[] = [];
  const answers = [Promise.reject(new Error('no answer')), Promise.resolve(7)];
  const redeliveryHorizon = openRedeliveryHorizon(
    () => answers.shift() ?? Promise.resolve(0),
    (_error, what) => troubles.push(what),
  );
  await redeliveryHorizon.look();
  expect([redeliveryHorizon.redelivered(8), redeliveryHorizon.known()]).toEqual([true, undefined]);
  await redeliveryHorizon.look();
  expect([redeliveryHorizon.redelivered(8), redeliveryHorizon.known()]).toEqual([false, 7]);
  expect(troubles).toEqual(['newest event not known: every event counts as redelivered']);
});
