import { expect } from 'vitest';
import { failures, type Reason } from '../../../src/methods/failure.ts';
import type { CallResult, Line, TestFrontDoor } from './testFrontDoor.ts';

/** Expects a status, its reason, a sentence, and a log line with the same. */
export async function expectFailure(
  setup: TestFrontDoor,
  called: CallResult,
  status: number,
  reason: Reason,
  sentence: RegExp,
): Promise<Line> {
  expect({ status: called.status, error: called.error }).toMatchObject({ status, error: { meta: { reason } } });
  expect(failures[reason].status).toBe(status);
  expect(called.error?.detail).toMatch(sentence);
  const line = await setup.lineOf(called.headers['x-correlation-id']);
  expect(line).toMatchObject({ status, reason, level: status < 500 ? 'info' : 'warn', details: expect.any(String) });
  return line;
}
