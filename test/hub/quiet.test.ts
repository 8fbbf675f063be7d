import { expect, it, onTestFinished, vi } from 'vitest';
import { quietAt } from '../../src/hub/reading/reader.ts';
import {
  createForeignCheckpointCheck,
  ForeignCheckpoint,
  OldInformation,
} from '../../src/hub/reading/startPosition.ts';

/** At second 100, a reader that began at 0 and had its last signs in these seconds, later than any other sign at 0. */
it.each([
  ['nothing but its beginning', {}, [100, 100, 100, 100, 100]],
  ['a new subscription: it may deliver yet, but nothing has answered', { subscribed: 90 }, [10, 100, 100, 10, 100]],
  ['a report without events', { heard: 90 }, [10, 10, 10, 100, 100]],
  ['events', { heard: 90, event: 90 }, [10, 10, 10, 10, 10]],
  ['a refusal: an answer, but nothing is delivered', { refused: 90 }, [100, 100, 10, 100, 100]],
  ['a report, then a new subscription', { heard: 60, event: 60, subscribed: 90 }, [10, 40, 40, 10, 40]],
  ['a refusal, then a report', { refused: 60, heard: 90 }, [10, 10, 10, 100, 100]],
])('A reader has been quiet since %s', (_, signs, expected) => {
  const { silentMs, deafMs, unansweredMs, eventlessMs, unfedMs } = quietAt(100, {
    ...{ subscribed: 0, heard: 0, refused: 0, event: 0 },
    ...signs,
  });
  expect([silentMs, deafMs, unansweredMs, eventlessMs, unfedMs]).toEqual(expected);
});

function inVirtualTime() {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
}

it('a checkpoint counts as foreign only when the hub has not come to it at any look in between', () => {
  inVirtualTime();
  const check = createForeignCheckpointCheck();
  const look = (newest: number) => () => check('0', { sequenceNumber: 10 }, { lastEnqueuedSequenceNumber: newest });
  for (const newest of [9, 9, 10, 9]) {
    if (newest < 10) expect(look(newest)).toThrow(OldInformation);
    else look(newest)();
    vi.advanceTimersByTime(31_000);
  }
  expect(look(9)).toThrow(OldInformation);
  vi.advanceTimersByTime(31_000);
  expect(look(9)).toThrow(ForeignCheckpoint);
});
