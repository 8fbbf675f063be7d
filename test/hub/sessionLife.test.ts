import { describe, expect, it } from 'vitest';
import type { PartitionSession } from '../../src/hub/reading/session.ts';
import { createSessionLife } from '../../src/hub/reading/sessionLife.ts';

type Step = 'release' | 'lost' | 'refused' | 'drained' | 'drain fails' | 'owner answers' | 'store fails' | 'closed';

function settledByHand<T>() {
  let resolve: (result: T) => void = () => {};
  let reject: (error: Error) => void = () => {};
  const promise = new Promise<T>((...given) => ([resolve, reject] = given));
  return { promise, resolve, reject };
}

/** A life whose session and store end what they are asked for when the test says so. `course` has what it did, in order. */
function setUp() {
  const course: string[] = [];
  const drain = settledByHand<{ unfinished: number; begun: number | undefined }>();
  const close = settledByHand<void>();
  const answer = settledByHand<void>();
  const session: Partial<PartitionSession> = {
    drain(limitMs) {
      course.push(`drain ${limitMs}`);
      return drain.promise;
    },
    close(limitMs) {
      course.push(`close ${limitMs}`);
      return close.promise;
    },
    revoke: () => course.push('revoke'),
  };
  const life = createSessionLife(session as PartitionSession, {
    drainMs: 9,
    releaseOwnership(begun) {
      course.push(`give back ${begun}`);
      return answer.promise;
    },
    ended: (reason) => course.push(`ended: ${reason}`),
    released: (unfinished) => course.push(`released, ${unfinished} unfinished`),
    notReleased: (error) => course.push(`not released: ${(error as Error).message}`),
    gone: () => course.push('gone'),
  });
  const steps: Record<Step, () => unknown> = {
    release: () => void life.release(),
    lost: () => life.revoke('lost'),
    refused: () => life.revoke('refused'),
    drained: () => drain.resolve({ unfinished: 2, begun: 7 }),
    'drain fails': () => drain.reject(new Error('hangs')),
    'owner answers': () => answer.resolve(),
    'store fails': () => answer.reject(new Error('disk full')),
    closed: () => close.resolve(),
  };
  return { life, course, steps };
}

describe('a session', () => {
  it.each<[string, Step[], string[], 'draining' | 'revoked']>([
    [
      'that is released drains first',
      ['release', 'drained', 'owner answers'],
      ['drain 9', 'give back 7', 'ended: released', 'released, 2 unfinished', 'gone'],
      'draining',
    ],
    [
      'drains once, however often it is released',
      ['release', 'release', 'drained', 'release', 'owner answers'],
      ['drain 9', 'give back 7', 'ended: released', 'released, 2 unfinished', 'gone'],
      'draining',
    ],
    [
      'that cannot drain is not released',
      ['release', 'drain fails'],
      ['drain 9', 'ended: not_released', 'not released: hangs', 'gone'],
      'draining',
    ],
    [
      'whose release the store does not take is not released',
      ['release', 'drained', 'store fails'],
      ['drain 9', 'give back 7', 'ended: not_released', 'not released: disk full', 'gone'],
      'draining',
    ],
    ['that is revoked closes', ['lost', 'closed'], ['ended: lost', 'close 9', 'gone'], 'revoked'],
    ['is revoked once', ['refused', 'lost', 'closed', 'lost'], ['ended: refused', 'close 9', 'gone'], 'revoked'],
    ['that is revoked does not drain', ['lost', 'release', 'closed'], ['ended: lost', 'close 9', 'gone'], 'revoked'],
    [
      'that is revoked while it drains ends once, as lost, and is no more when its drain ends',
      ['release', 'lost', 'lost', 'drained', 'owner answers'],
      ['drain 9', 'ended: lost', 'revoke', 'give back 7', 'released, 2 unfinished', 'gone'],
      'revoked',
    ],
    [
      'that is revoked while the store hangs ends once, too',
      ['release', 'drained', 'lost', 'store fails'],
      ['drain 9', 'give back 7', 'ended: lost', 'revoke', 'not released: disk full', 'gone'],
      'revoked',
    ],
  ])('%s', async (_, given, expected, state) => {
    const { life, course, steps } = setUp();
    expect(life.state()).toBe('reading');
    for (const step of given) {
      steps[step]();
      await new Promise(setImmediate);
    }
    expect([course, life.state()]).toEqual([expected, state]);
  });

  it.each<[string, Step[], Step[]]>([
    ['released', [], ['drained', 'owner answers']],
    ['revoked', ['lost'], ['closed']],
    ['revoked while it drains', ['release', 'lost'], ['drained', 'store fails']],
  ])('that is %s delays a release until that is over', async (_, before, after) => {
    const { life, course, steps } = setUp();
    for (const step of before) steps[step]();
    const releasing = life.release().then(() => course.push('waited'));
    for (const step of after) steps[step]();
    await releasing;
    expect(course.slice(-2)).toEqual(['gone', 'waited']);
  });
});
