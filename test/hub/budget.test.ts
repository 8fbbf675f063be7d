import { expect, it } from 'vitest';
import { createBudget } from '../../src/hub/partition/budget.ts';

const settle = () => new Promise<void>((resolve) => setImmediate(resolve));

it('admits at once while there is room, then first come, first served', async () => {
  const budget = createBudget({ maxMessages: 2, maxBytes: 100 });
  expect(budget.take(10)).toBeUndefined();
  expect(budget.take(10)).toBeUndefined();
  const admitted: string[] = [];
  void budget.take(1)?.then(() => admitted.push('third'));
  void budget.take(1)?.then(() => admitted.push('fourth'));
  await settle();
  expect(admitted).toEqual([]);
  budget.give(10);
  await settle();
  expect(admitted).toEqual(['third']);
  budget.give(10);
  await settle();
  expect(admitted).toEqual(['third', 'fourth']);
  expect(budget.inFlight()).toEqual({ messages: 2, bytes: 2 });
});

it('counts bytes as well as messages', async () => {
  const budget = createBudget({ maxMessages: 10, maxBytes: 100 });
  expect(budget.take(60)).toBeUndefined();
  const waiting = budget.take(60);
  expect(waiting).toBeInstanceOf(Promise);
  budget.give(60);
  await waiting;
  expect(budget.inFlight()).toEqual({ messages: 1, bytes: 60 });
});

it('lets one message larger than the whole budget through when nothing else is in work', () => {
  const budget = createBudget({ maxMessages: 10, maxBytes: 100 });
  expect(budget.take(500)).toBeUndefined();
});

it('a body that grew holds up those who come next', async () => {
  const budget = createBudget({ maxMessages: 10, maxBytes: 100 });
  expect(budget.take(10)).toBeUndefined();
  budget.grow(90);
  const waiting = budget.take(1);
  expect(waiting).toBeInstanceOf(Promise);
  budget.give(100);
  await waiting;
});
