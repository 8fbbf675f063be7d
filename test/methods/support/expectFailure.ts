import { expect } from 'vitest';
import { failures, type Reason } from '../../../src/protocol/vocabulary.ts';
import type { CallResult, Line, TestFrontDoor } from './testFrontDoor.ts';

/** Expects a status, its reason, a sentence, whether the method has run, and a log line with the same. */
export async function expectFailure(
  setup: TestFrontDoor,
  called: CallResult,
  status: number,
  reason: Reason,
  sentence: RegExp,
): Promise<Line> {
  const { invoked } = failures[reason];
  const expected = { status, error: { meta: { reason, invoked } } };
  expect({ status: called.status, error: called.error }).toMatchObject(expected);
  expect(failures[reason].status).toBe(status);
  expect(called.error?.detail).toMatch(sentence);
  const line = await setup.lineOf(called.headers['x-correlation-id']);
  const level = status < 500 && invoked === 'no' ? 'info' : 'warn';
  expect(line).toMatchObject({ status, reason, invoked, level, details: expect.any(String) });
  return line;
}
