import { expect, it } from 'vitest';
import { onExit } from '../../sandbox/service/onExit.ts';

it('one exit listener serves any number of processes', () => {
  const before = process.listenerCount('exit');
  const called: number[] = [];
  const cancels = Array.from({ length: 20 }, (_, n) => onExit(() => void called.push(n)));
  expect(process.listenerCount('exit')).toBe(before + 1);
  const [cleanUp] = process.listeners('exit').slice(-1);
  cancels[7]?.();
  cleanUp?.(0);
  for (const cancel of cancels) cancel();
  cleanUp?.(0);
  expect(called).toEqual(Array.from({ length: 20 }, (_, n) => n).filter((n) => n !== 7));
});
