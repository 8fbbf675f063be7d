import { expect, it } from 'vitest';
import { readAnswer } from '../../src/methods/answer.ts';

const nested = (depth: number): unknown => JSON.parse(`{"a":${'['.repeat(depth)}${']'.repeat(depth)}}`);

it('an answer nested so deep that writing it would overflow the stack is a bad reply', () => {
  expect(() => readAnswer(200, { status: 0, output: nested(60_000) })).toThrow(/nested more than 64 levels deep/);
  expect(readAnswer(200, { status: 0, output: nested(62) })).toEqual({ status: 0, output: nested(62) });
});
