import { expect, it } from 'vitest';
import { createMeter, summaryOf } from '../../src/observing/metrics.ts';
import { codesIn, readPage, tableOf } from '../docs/markdown.ts';
import { withFakeTimers } from '../support/waiting.ts';
import { messages } from './chapters/messages.ts';

withFakeTimers();

const summary = {
  ...{ skipped: 24, misspellings: 27, unattributed: 25, undecodable: 26, succeeded: 51, failed: 565 },
  ...{ parked: 21, notParked: 22, repliesDelivered: 62, repliesDropped: 532 },
};

it('the last line of the log has each count under its own name', async () => {
  const meter = createMeter();
  await messages.record(meter);
  expect(summaryOf(meter)).toEqual(summary);
});

it('docs/operations.md has the counts of the last line', () => {
  const listed = tableOf(readPage('operations.md'), 'counter').flatMap((row) => codesIn(row['counter'] ?? ''));
  expect(listed.sort()).toEqual(Object.keys(summary).sort());
});
