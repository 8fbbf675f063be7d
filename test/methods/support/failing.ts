import { expect } from 'vitest';
import { failures, type Reason } from '../../../src/methods/failure.ts';
import type { Called, Line, Place } from './place.ts';

/** What a call must have failed with: the status of the reason, a sentence, and a line of the log that says the same. */
export async function expectFailure(
  place: Place,
  called: Called,
  status: number,
  reason: Reason,
  sentence: RegExp,
): Promise<Line> {
  expect({ status: called.status, error: called.error }).toMatchObject({ status, error: { meta: { reason } } });
  expect(failures[reason].status).toBe(status);
  expect(called.error?.detail).toMatch(sentence);
  const line = await place.lineOf(called.headers['x-correlation-id']);
  expect(line).toMatchObject({ status, reason, level: status < 500 ? 'info' : 'warn', details: expect.any(String) });
  return line;
}
