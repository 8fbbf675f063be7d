import { expect, it } from 'vitest';
import { knownRedeliveryHorizon, openRedeliveryHorizon } from '../../src/engine/progress/tracked.ts';

it('Messages beyond the redelivery horizon of the previous reader are not repeats', () => {
  const { look, redelivered, known } = knownRedeliveryHorizon(7);
  expect([look(), redelivered(7), redelivered(8), known()]).toEqual([undefined, true, false, 7]);
});

it('Without a release, every event that the hub had at the first read of the session may be a repeat', async () => {
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

it('Without a redelivery horizon every message is a possible repeat, and it is asked for again', async () => {
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
