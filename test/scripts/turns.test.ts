import { expect, it } from 'vitest';
import { createTurns } from '../../scripts/ci/turns.ts';

it('what is said at the same time is heard one after the other, in the order of beginning: at once, or when those before have ended', () => {
  const heard: unknown[] = [];
  const turns = createTurns((words) => heard.push(words));
  const [first, second, third] = [turns.begin(), turns.begin(), turns.begin()];
  second.say('2a');
  first.say('1a');
  third.say('3a');
  third.end();
  second.say('2b');
  expect(heard).toEqual(['1a']);
  first.end();
  expect(heard).toEqual(['1a', '2a', '2b']);
  second.say('2c');
  second.end();
  expect(heard).toEqual(['1a', '2a', '2b', '2c', '3a']);
  const last = turns.begin();
  last.say('4a');
  expect(heard.at(-1)).toBe('4a');
});
