import { expect, it } from 'vitest';
import { readMethodResponse } from '../../src/methods/methodResponse.ts';

const nested = (depth: number): unknown => JSON.parse(`{"a":${'['.repeat(depth)}${']'.repeat(depth)}}`);

it('a response nested so deep that serialising it would overflow the stack is a bad reply', () => {
  expect(() => readMethodResponse(200, { status: 0, output: nested(60_000) })).toThrow(
    /nested more than 64 levels deep/,
  );
  expect(readMethodResponse(200, { status: 0, output: nested(62) })).toEqual({ status: 0, output: nested(62) });
});
