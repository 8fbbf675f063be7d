import { vi } from 'vitest';
import { createQuarantine, createTurnstile } from '../../../src/engine/quarantine.ts';
import { createGapReports } from '../../../src/hub/reading/assignment.ts';
import type { Meter, MeterWithReadings } from '../../../src/observing/metrics.ts';
import { limits } from '../../engine/support/partitions.ts';
import { openSessions } from '../../hub/support/assignments.ts';
import { silence, untold } from '../../hub/support/replying.ts';
import { by, type Chapter, times } from '../support/points.ts';

const untilCheckpoint = () => vi.advanceTimersByTimeAsync(limits.everyMs + 1_000);
const broken = () => Promise.reject(new Error('nobody can reach it'));

async function endSessions(meter: MeterWithReadings) {
  const failing = await openSessions({ meter, partitions: 3, messages: 0, release: broken });
  await failing.sessions.releaseAll();

  const claimed = await openSessions({ meter, partitions: 4, messages: 0 });
  claimed.sessions.revokeLost(claimed.claimedByOthers);

  await openSessions({ meter, partitions: 5, store: { writeCheckpoint: async () => false } });
  await untilCheckpoint();

  const stalled = await openSessions({ meter, partitions: 6, messages: 0 });
  stalled.sessions.revokeAll('stood_still');

  const cutOff = await openSessions({ meter, partitions: 41, messages: 0 });
  cutOff.sessions.revokeAll('cut_off');

  const refused = await openSessions({ meter, partitions: 7, messages: 0 });
  await Promise.all(refused.ids.map(refused.refuse));

  await openSessions({ meter, partitions: 8, messages: 0 }); // these go on

  const usual = await openSessions({ meter, partitions: 11 });
  await untilCheckpoint();
  await Promise.all(usual.ids.slice(0, 10).map(usual.sessions.release));
}

/** The store accepts a checkpoint only after it has failed 11 times. */
async function failToWrite(meter: MeterWithReadings) {
  let failures = 11;
  const writeCheckpoint = async () => {
    if (failures === 0) return true;
    failures -= 1;
    throw new Error('no store');
  };
  await openSessions({ meter, store: { writeCheckpoint } });
  for (let round = 0; round < 12; round += 1) await untilCheckpoint();
}

/** Each suspect has a quarantine of its own. */
async function tryOne(meter: Meter) {
  const quarantine = createQuarantine({
    crashRecord: '2 2 9 - -',
    recordCrashState: async () => true,
    ...{
      draining: new AbortController().signal,
      turnstile: createTurnstile(),
      mostSuspects: 10,
      log: silence,
      meter,
    },
  });
  await quarantine?.turnOf('d1', 7);
  await quarantine?.ended(7);
}

/** The hub keeps the events from 50 on. */
function missEvents(meter: Meter) {
  const gaps = createGapReports('0', async () => 50, untold, meter);
  for (let next = 0; next < 18; next += 1) gaps.report({ after: next - 2, next });
  for (let next = 51; next < 51 + 19; next += 1) gaps.report({ after: next - 2, next });
  return vi.advanceTimersByTimeAsync(2_000);
}

/** The partitions that an instance reads. */
export const reading: Chapter = {
  async record(meter) {
    await endSessions(meter);
    await failToWrite(meter);
    await times(13, () => tryOne(meter));
    await missEvents(meter);
  },
  points: {
    'device_messaging.sessions.begun': { '': 86 },
    'device_messaging.sessions.ended': by('reason', {
      not_released: 3,
      stood_still: 6,
      cut_off: 41,
      refused: 7,
      lost: 9,
      released: 10,
    }),
    'device_messaging.checkpoints': { 'result=refused': 5, 'result=failed': 11, 'result=written': 12 },
    'device_messaging.quarantine.trials': { 'result=handled': 13 },
    'device_messaging.gaps': { 'reason=retention': 18, 'reason=unknown': 19 },
  },
};
