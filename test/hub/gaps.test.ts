import { expect, it, vi } from 'vitest';
import { createGapReports } from '../../src/hub/reading/assignment.ts';
import { createTroubles } from '../../src/observing/log.ts';
import { createMeter } from '../../src/observing/metrics.ts';
import { createTaps, type TapEvent } from '../../src/observing/taps.ts';
import { readingOf, recordingLog } from '../support/observed.ts';
import { withFakeTimers } from '../support/waiting.ts';

withFakeTimers();

/** Gaps of partition 3, of which the hub says what the test says. */
function setUp(oldestOf: () => Promise<number>) {
  const meter = createMeter();
  const log = recordingLog();
  const taps = createTaps();
  const tapped: TapEvent[] = [];
  taps.open({ device: 'pump-1', follow: (event) => tapped.push(event) });
  const ask = vi.fn(oldestOf);
  const reports = createGapReports('3', ask, createTroubles(log), meter, taps);
  return { ...reports, ask, lines: log.lines, tapped, counted: () => readingOf(meter, 'device_messaging.gaps') };
}

const settled = () => vi.advanceTimersByTimeAsync(0);

it.each([
  ['retention', 'the hub has deleted what is missing', 9],
  ['retention', 'the hub has deleted more meanwhile', 20],
  ['unknown', 'the hub still has some of it', 8],
])('a gap has the reason %s when %s', async (reason, _, oldest) => {
  const { report, counted, lines, tapped } = setUp(async () => oldest);
  report({ after: 5, next: 9 });
  await settled();
  expect(counted()).toEqual({ [reason]: 1 });
  const fields = { partition: '3', after: 5, missing: 3, reason };
  expect(lines).toEqual([{ level: 'warn', message: 'events of the partition are missing', fields }]);
  expect(tapped).toMatchObject([{ stage: 'gap', device: 'pump-1', sequenceNumber: 9, ...fields }]);
});

it('a gap has no known reason when the hub does not answer', async () => {
  const { report, counted } = setUp(() => Promise.reject(new Error('no answer')));
  report({ after: 5, next: 9 });
  await settled();
  expect(counted()).toEqual({ unknown: 1 });
});

it('each gap is reported, but many of them ask once a second and log once a minute', async () => {
  const { report, ask, counted, lines, tapped } = setUp(async () => 0);
  for (let after = 0; after < 100; after += 2) report({ after, next: after + 2 });
  await vi.advanceTimersByTimeAsync(1_000);
  expect([ask.mock.calls.length, counted(), tapped.length, lines.length]).toEqual([2, { unknown: 50 }, 50, 1]);
  await vi.advanceTimersByTimeAsync(59_000);
  expect(lines.map(({ fields }) => fields)).toMatchObject([{ after: 0 }, { after: 98, times: 49 }]);
});

it('a gap that comes long after others has a question of its own; several in a second have one', async () => {
  const { report, ask, counted } = setUp(async () => 0);
  for (let round = 1; round <= 2; round += 1) {
    await vi.advanceTimersByTimeAsync(5_000);
    const before = ask.mock.calls.length;
    for (let number = 0; number < 9; number += 1) {
      report({ after: 1, next: 3 });
      await vi.advanceTimersByTimeAsync(100);
    }
    expect([ask.mock.calls.length - before, counted()]).toEqual([1, { unknown: (round - 1) * 9 + 1 }]);
    await vi.advanceTimersByTimeAsync(100);
    expect([ask.mock.calls.length - before, counted()]).toEqual([2, { unknown: round * 9 }]);
  }
});

it('a gap is reported without its reason when too many wait for theirs', async () => {
  const { report, counted } = setUp(() => new Promise(() => {}));
  for (let after = 0; after < 2_004; after += 2) report({ after, next: after + 2 });
  expect(counted()).toEqual({ unknown: 1 });
});

it('a gap is reported once, without its reason, when the session ends before that is known', async () => {
  let answer = (_oldest: number) => {};
  const { report, close, counted } = setUp(() => new Promise((resolve) => (answer = resolve)));
  report({ after: 5, next: 9 });
  report({ after: 9, next: 11 });
  close();
  expect(counted()).toEqual({ unknown: 2 });
  for (let question = 0; question < 2; question += 1) {
    answer(100);
    await vi.advanceTimersByTimeAsync(2_000);
  }
  expect(counted()).toEqual({ unknown: 2 });
});
