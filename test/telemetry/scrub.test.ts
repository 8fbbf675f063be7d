import { createScrub } from 'telemetry/scrub.ts';
import { madeOf } from 'telemetry/secretList.ts';
import { expect, it } from 'vitest';

it('a known secret is taken out whole, also when another one begins like it', () => {
  const scrub = createScrub(['k3y-', 'k3y-of-the-hub']);
  expect(scrub('not k3y-of-the-hub, not k3y-')).toBe('not …, not …');
});

it('a known secret is taken out as it is sent in an address, also when that cannot be written as text', () => {
  expect(createScrub(['a+b/c d'])('tried a%2Bb%2Fc%20d')).toBe('tried …');
  expect(createScrub(['half\ud83d'])('tried half%EF%BF%BD')).toBe('tried …');
});

it('a secret of fewer than four characters would hide much else, and stays', () => {
  expect(createScrub(['abc', 'abcd'])('abc abcd')).toBe('abc …');
});

it('secrets are those of the moment, and are prepared once for each list', () => {
  let list = ['first'];
  const made: (readonly string[])[] = [];
  const joined = madeOf(
    () => list,
    (secrets) => {
      made.push(secrets);
      return secrets.join();
    },
  );
  expect([joined(), joined()]).toEqual(['first', 'first']);
  list = ['second', 'third'];
  expect([joined(), joined()]).toEqual(['second,third', 'second,third']);
  expect(made).toEqual([['first'], ['second', 'third']]);
});
