import { createScrub, madeOf } from '@device-messaging/telemetry/secrets.ts';
import { expect, it } from 'vitest';

it('a known secret is taken out whole, also when another one begins like it', () => {
  const scrub = createScrub(['k3y-', 'k3y-of-the-hub']);
  expect(scrub('not k3y-of-the-hub, not k3y-')).toBe('not …, not …');
});
it('a known secret is taken out as it is sent in an address, also when that cannot be written as text', () => {
  expect(createScrub(['a+b/c d'])('tried a%2Bb%2Fc%20d')).toBe('tried …');
  expect(createScrub(['half\ud83d'])('tried half%EF%BF%BD')).toBe('tried …');
});
it('a secret of fewer than four characters would hide much else, and stays', () =>
  expect(createScrub(['abc', 'abcd'])('abc abcd')).toBe('abc …'));

it.each([
  ['amqps://user:pw@hub.example/x', 'amqps://…@hub.example/x'],
  ['GET https://h/c/b?sv=1&sig=abc failed', 'GET https://h/c/b?… failed'],
  ['401 for Bearer abc.x_y-z here', '401 for Bearer … here'],
  ['grant_type=x&client_secret=abc&scope=y', 'grant_type=x&client_secret=…&scope=y'],
])('what looks like a secret is taken out of %s, and nothing else', (text, scrubbed) =>
  expect(createScrub([])(text)).toBe(scrubbed),
);

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
  expect([joined(), joined(), made]).toEqual(['second,third', 'second,third', [['first'], ['second', 'third']]]);
});
