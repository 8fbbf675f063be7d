import { expect, it } from 'vitest';
import { behindOf } from '../../src/hub/reading/hubWatch.ts';
import { withFakeTimers } from '../support/waiting.ts';

withFakeTimers();

const momentAgo = (seconds: number) => performance.now() - seconds * 1000;

it.each<[string, { newest?: number; isAnswering?: boolean; undone?: number }, number | null]>([
  ['by the age of its oldest unfinished event, even if all events are read', { newest: 9, undone: 69 }, 69],
  ['by that age, also when there are unread events', { newest: 50, undone: 12 }, 12],
  ['by nothing when the last number is done', { newest: 9 }, 0],
  ['by nothing when the hub’s answer is older than what was read', { newest: 7 }, 0],
  ['by an unknown time while all read events are done and there are unread ones', { newest: 10 }, null],
  ['by an unknown time before the first answer', {}, null],
  ['by an unknown time while the hub does not answer', { newest: 9, isAnswering: false }, null],
  [
    'by an unknown time while the hub does not answer, also with unfinished events',
    { isAnswering: false, undone: 5 },
    null,
  ],
])('a partition is behind %s', (_, { newest, isAnswering = true, undone }, expected) => {
  const answer = newest === undefined ? undefined : { newest, at: 77 };
  const undoneSince = undone === undefined ? undefined : momentAgo(undone);
  expect(behindOf({ answer, isAnswering }, undoneSince, 9)).toEqual({
    behindSeconds: expected,
    asOf: answer && 77,
  });
});
