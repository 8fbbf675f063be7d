import type { EventHubConsumerClient, SubscriptionEventHandlers } from '@azure/event-hubs';
import { describe, expect, it, vi } from 'vitest';
import { createRedeliveryHorizon, type RedeliveryHorizon } from '../../src/engine/progressTracker.ts';
import { beginPartitionSession, type PartitionSession } from '../../src/hub/reading/assignment.ts';
import { budgetOf, events, receivedMessageOf, usual } from '../engine/support/partitions.ts';
import { claimed } from './support/claims.ts';
import { silence } from './support/replying.ts';

type Step = 'release' | 'lost' | 'refused' | 'closed' | 'drain fails' | 'owner answers' | 'store fails';

interface Given {
  readonly redeliveryHorizon?: RedeliveryHorizon;
  readonly drainMs?: number;
  /** Closes the subscription, answers a release. */
  readonly close?: () => Promise<void>;
  readonly answer?: () => Promise<void>;
}

/**
 * A session over a client that gives what the test says. Messages end at once, those of device `s` never. `course` has what it
 * did, in order.
 */
function begin({ redeliveryHorizon = createRedeliveryHorizon(-1), drainMs = 10, ...given }: Given = {}) {
  const { close = async () => {}, answer = async () => {} } = given;
  const observation: string[] = [];
  let handlers: SubscriptionEventHandlers | undefined;
  const client = {
    subscribe(_partition: string, given: SubscriptionEventHandlers) {
      handlers = given;
      return {
        isRunning: true,
        close() {
          observation.push('closes');
          return close();
        },
      };
    },
  } as unknown as EventHubConsumerClient;
  const session = beginPartitionSession(client, {
    ...usual,
    record: { ...claimed('me', 1), etag: 'e' },
    ...{ redeliveryHorizon, receivedMessageOf, drainMs, budget: budgetOf(10) },
    ...{ batchSize: 10, prefetch: 10, maxWaitSeconds: 1, lost() {}, failed() {}, heard() {} },
    log: {
      ...silence,
      info: (fields: object, message: string) => observation.push(`${message}: ${JSON.stringify(fields)}`),
      warn: ({ err }: { err?: Error }, message: string) => observation.push(`${message}: ${err?.message}`),
    },
    gaps: { report() {}, close: () => void observation.push('gaps') },
    async checkpoint() {
      observation.push('checkpoint');
      return true;
    },
    dispatch({ deviceId }, { ended }) {
      ended.addEventListener('abort', () => observation.push('revoked'));
      return deviceId === 's' ? new Promise(() => {}) : Promise.resolve(true);
    },
    releaseLease(begun) {
      observation.push(`gives back ${begun}`);
      return answer();
    },
    ended: (reason) => void observation.push(`ended: ${reason}`),
    gone: () => void observation.push('gone'),
  });
  return {
    session,
    observation,
    give: (text: string) => handlers?.processEvents(events(text) as never, undefined as never),
  };
}

const newestIs = (newest: number) =>
  createRedeliveryHorizon(
    async () => newest,
    () => {},
  );

function settledByHand() {
  let resolve: () => void = () => {};
  let reject: (error: Error) => void = () => {};
  const promise = new Promise<void>((...given) => ([resolve, reject] = given));
  return { promise, resolve, reject };
}

/** A session with one message that is done, and what ends what it asks for. */
async function setUp() {
  const closing = settledByHand();
  const answering = settledByHand();
  let known: () => number | undefined = () => 7;
  const { give, session, observation } = begin({
    redeliveryHorizon: { ...createRedeliveryHorizon(7), known: () => known() },
    close: () => closing.promise,
    answer: () => answering.promise,
  });
  await give('a1');
  const steps: Record<Step, () => unknown> = {
    release: () => void session.release(),
    lost: () => session.revoke('lost'),
    refused: () => session.revoke('refused'),
    closed: () => closing.resolve(),
    'drain fails'() {
      known = () => {
        throw new Error('hangs');
      };
      closing.resolve();
    },
    'owner answers': () => answering.resolve(),
    'store fails': () => answering.reject(new Error('disk full')),
  };
  return { session, observation, steps };
}

describe('a session', () => {
  const closed = ['closes', 'revoked', 'checkpoint'];
  const drained = [...closed, 'gaps'];
  const released = 'partition released: {"partition":"0","unfinished":0}';
  const givenBack = [...drained, 'gives back 7', 'ended: released', released, 'gone'];
  const gone = ['revoked', 'closes', 'gaps', 'gone'];
  it.each<[string, Step[], string[], 'draining' | 'revoked']>([
    ['that is released drains first', ['release', 'closed', 'owner answers'], givenBack, 'draining'],
    ['drains once', ['release', 'release', 'closed', 'release', 'owner answers'], givenBack, 'draining'],
    [
      'that cannot drain is not released',
      ['release', 'drain fails'],
      [...drained, 'ended: not_released', 'a partition was not released: hangs', 'gone'],
      'draining',
    ],
    [
      'whose release the store does not take is not released',
      ['release', 'closed', 'store fails'],
      [...drained, 'gives back 7', 'ended: not_released', 'a partition was not released: disk full', 'gone'],
      'draining',
    ],
    ['that is revoked closes, and writes no checkpoint', ['lost', 'closed'], ['ended: lost', ...gone], 'revoked'],
    ['is revoked once', ['refused', 'lost', 'closed', 'lost'], ['ended: refused', ...gone], 'revoked'],
    ['that is revoked does not drain', ['lost', 'release', 'closed'], ['ended: lost', ...gone], 'revoked'],
    [
      'that is revoked while it drains ends once, as lost, and is no more when its drain ends',
      ['release', 'lost', 'lost', 'closed', 'owner answers'],
      [...closed, 'ended: lost', 'gaps', 'gives back 7', released, 'gone'],
      'revoked',
    ],
    [
      'that is revoked while the store hangs ends once, too',
      ['release', 'closed', 'lost', 'store fails'],
      [...drained, 'gives back 7', 'ended: lost', 'a partition was not released: disk full', 'gone'],
      'revoked',
    ],
  ])('%s', async (_, given, expected, state) => {
    const { session, observation, steps } = await setUp();
    expect(session.state()).toBe('reading');
    for (const step of given) {
      steps[step]();
      await new Promise(setImmediate);
    }
    expect([observation, session.state()]).toEqual([expected, state]);
  });

  it.each<[string, Step[], Step[]]>([
    ['released', [], ['closed', 'owner answers']],
    ['revoked', ['lost'], ['closed']],
    ['revoked while it drains', ['release', 'lost'], ['closed', 'store fails']],
  ])('that is %s delays a release until that is over', async (_, before, after) => {
    const { session, observation, steps } = await setUp();
    for (const step of before) steps[step]();
    const releasing = session.release().then(() => observation.push('waited'));
    for (const step of after) steps[step]();
    await releasing;
    expect(observation.slice(-2)).toEqual(['gone', 'waited']);
  });

  it.each<[string, boolean, string[]]>([
    ['reads', false, ['ended: lost', 'revoked', 'revoked', 'closes']],
    ['drains', true, ['closes', 'ended: lost', 'revoked', 'revoked']],
  ])('that is revoked while it %s aborts its messages at once', async (_, drains, expected) => {
    const { session, observation, give } = begin();
    await give('a1 s2');
    if (drains) void session.release();
    session.revoke('lost');
    expect(observation).toEqual(expected);
    await session.release();
  });
});

it.each([
  ['that of the reader before, when this one has not come so far', createRedeliveryHorizon(7), 'a2 b3', 7],
  ['its own, when it has come further', createRedeliveryHorizon(7), 'a2 b9', 9],
  ['that of the reader before, when nothing has come', createRedeliveryHorizon(7), undefined, 7],
  ['the newest of the hub at its beginning, when nobody knew', newestIs(20), 'a2 b3', 20],
  ['nothing, when it does not know itself', newestIs(20), undefined, undefined],
])('the newest message that a session may have begun is %s', async (_, redeliveryHorizon, text, begun) => {
  const { session, observation, give } = begin({ redeliveryHorizon });
  if (text !== undefined) await give(text);
  await session.release();
  expect(observation).toContain(`gives back ${begun}`);
});

const ends: [how: string, end: (session: PartitionSession) => Promise<void>][] = [
  ['drain', (session) => session.release()],
  [
    'close',
    (session) => {
      session.revoke('lost');
      return session.release();
    },
  ],
];

it.each(ends)('A subscription that does not close costs no time beside messages: %s', async (_, end) => {
  vi.useFakeTimers();
  const { session, observation, give } = begin({ drainMs: 10_000, close: () => new Promise(() => {}) });
  await give('s1');
  let isOver = false;
  void end(session).then(() => (isOver = true));
  expect(observation).toContain('closes');
  await vi.advanceTimersByTimeAsync(10_999);
  expect(isOver).toBe(false);
  await vi.advanceTimersByTimeAsync(1);
  expect(isOver).toBe(true);
});
