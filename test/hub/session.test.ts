import type { EventHubConsumerClient, SubscriptionEventHandlers } from '@azure/event-hubs';
import { expect, it, onTestFinished, vi } from 'vitest';
import {
  knownRedeliveryHorizon,
  openRedeliveryHorizon,
  type RedeliveryHorizon,
} from '../../src/engine/progress/tracked.ts';
import { beginPartitionSession } from '../../src/hub/reading/session.ts';
import { arrivalOf, budgetOf, events, usual } from '../engine/support/partitions.ts';
import { claimed } from './support/claims.ts';
import { silence } from './support/replying.ts';

const record = { ...claimed('me', 1), etag: 'e' };

/** A session over a client that gives what the test says. Messages end at once, those of device `s` never. */
function begin(redeliveryHorizon: RedeliveryHorizon = knownRedeliveryHorizon(-1), close = async () => {}) {
  let handlers: SubscriptionEventHandlers | undefined;
  const client = {
    subscribe(_partition: string, given: SubscriptionEventHandlers) {
      handlers = given;
      return { isRunning: true, close };
    },
  } as unknown as EventHubConsumerClient;
  let gapsClosed = 0;
  const ends: AbortSignal[] = [];
  const checkpoints: unknown[] = [];
  const session = beginPartitionSession(client, {
    ...usual,
    ...{ record, redeliveryHorizon, arrivalOf, log: silence, budget: budgetOf(10) },
    ...{ batchSize: 10, prefetch: 10, maxWaitSeconds: 1, lost() {}, failed() {}, heard() {} },
    gaps: {
      report() {},
      close() {
        gapsClosed += 1;
      },
    },
    async checkpoint(progress) {
      checkpoints.push(progress);
      return true;
    },
    dispatch({ deviceId }, { ended }) {
      ends.push(ended);
      return deviceId === 's' ? new Promise(() => {}) : Promise.resolve(true);
    },
  });
  return {
    session,
    gapsClosed: () => gapsClosed,
    ends,
    checkpoints,
    give: (text: string) => handlers?.processEvents(events(text) as never, undefined as never),
  };
}

const newestIs = (newest: number) =>
  openRedeliveryHorizon(
    async () => newest,
    () => {},
  );

it.each([
  ['that of the reader before, when this one has not come so far', knownRedeliveryHorizon(7), 'a2 b3', 7],
  ['its own, when it has come further', knownRedeliveryHorizon(7), 'a2 b9', 9],
  ['that of the reader before, when nothing has come', knownRedeliveryHorizon(7), undefined, 7],
  ['the newest of the hub at its beginning, when nobody knew', newestIs(20), 'a2 b3', 20],
  ['nothing, when it does not know itself', newestIs(20), undefined, undefined],
])(
  'the newest message that may have begun, at the end of a session, is %s',
  async (_, redeliveryHorizon, text, begun) => {
    const { session, give } = begin(redeliveryHorizon);
    if (text !== undefined) await give(text);
    expect(await session.drain(0)).toEqual({ unfinished: 0, begun });
  },
);

it('A revoked session aborts its messages at once, and writes no checkpoint', async () => {
  const { session, give, ends, checkpoints } = begin();
  await give('a1 s2');
  const closing = session.close(10);
  expect(ends.map(({ aborted }) => aborted)).toEqual([true, true]);
  await closing;
  expect(checkpoints).toEqual([]);
});

it.each(['drain', 'close'] as const)('The gaps that wait for their reason are reported at the end: %s', async (how) => {
  const { session, give, gapsClosed } = begin();
  await give('a1');
  await session[how](10);
  expect(gapsClosed()).toBe(1);
});

it.each(['drain', 'close'] as const)(
  'A subscription that does not close costs no time beside messages: %s',
  async (how) => {
    vi.useFakeTimers();
    onTestFinished(() => void vi.useRealTimers());
    let closings = 0;
    const { session, give } = begin(undefined, () => {
      closings += 1;
      return new Promise(() => {});
    });
    await give('s1');
    let isOver = false;
    void session[how](10_000).then(() => (isOver = true));
    expect(closings).toBe(1);
    await vi.advanceTimersByTimeAsync(10_999);
    expect(isOver).toBe(false);
    await vi.advanceTimersByTimeAsync(1);
    expect(isOver).toBe(true);
  },
);
