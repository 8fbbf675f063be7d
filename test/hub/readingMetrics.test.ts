import { expect, it, vi } from 'vitest';
import type { CheckpointStore } from '../../src/stores/checkpointStore.ts';
import { limits } from '../engine/support/partitions.ts';
import { readingOf } from '../support/observed.ts';
import { withFakeTimers } from '../support/waiting.ts';
import { openSessions } from './support/assignments.ts';

withFakeTimers();

/** A session that reads one message. */
async function setUp(store: Partial<CheckpointStore> = {}, release = async () => {}) {
  const { sessions, meter, claimedByOthers } = await openSessions({ store, release });
  await vi.advanceTimersByTimeAsync(limits.everyMs + 1_000);
  return {
    sessions,
    claimedByOthers,
    counted: () => ({
      begun: readingOf(meter, 'device_messaging.sessions.begun'),
      ended: readingOf(meter, 'device_messaging.sessions.ended'),
      checkpoints: readingOf(meter, 'device_messaging.checkpoints'),
    }),
  };
}

it('a session, its checkpoints and its release are counted', async () => {
  const { sessions, counted } = await setUp();
  expect(counted()).toEqual({ begun: { '': 1 }, ended: {}, checkpoints: { written: 1 } });
  await sessions.release('0');
  expect(counted()).toMatchObject({ begun: { '': 1 }, ended: { released: 1 } });
});

it('a partition that another instance owns is counted as lost, also when it is draining', async () => {
  const { sessions, claimedByOthers, counted } = await setUp();
  const draining = sessions.release('0');
  sessions.revokeLost(claimedByOthers);
  await draining;
  expect(counted().ended).toEqual({ lost: 1 });
});

it('a session that cannot be released is counted as such', async () => {
  const { sessions, counted } = await setUp({}, () => Promise.reject(new Error('no store')));
  await sessions.release('0');
  expect(counted().ended).toEqual({ not_released: 1 });
});

it('a checkpoint that cannot be written is counted as failed', async () => {
  const { counted } = await setUp({ writeCheckpoint: () => Promise.reject(new Error('no store')) });
  expect(counted()).toMatchObject({ ended: {}, checkpoints: { failed: 1 } });
});
it('a checkpoint that is refused is counted, and the session as lost', async () => {
  const { counted } = await setUp({ writeCheckpoint: async () => false });
  expect(counted()).toMatchObject({ ended: { lost: 1 }, checkpoints: { refused: 1 } });
});
