import type { Fault } from './faults.ts';
import { inFile } from './inFile.ts';

const replyClock = ['test/hub/replyClock.test.ts'];
const stuckWatch = ['test/hub/stuckWatch.test.ts'];
const ownerships = ['test/hub/ownerships.test.ts'];
const standstill = ['test/concurrency/standstill.test.ts'];
const dispatch = ['test/dispatch/dispatch.test.ts'];

/** In which clock tells what, and in what is noticed when time goes otherwise than it seems (D179, D180, D182). */
export const clockFaults: readonly Fault[] = [
  ...inFile('src/hub/replies/replies.ts', replyClock, {
    fault: 'paces replies by a clock that can be set',
    find: 'const now = () => performance.now();',
    replace: 'const now = () => Date.now();',
    caughtBy: 'back by an hour delays no reply',
  }),
  ...inFile(
    'src/hub/replies/rateLimit.ts',
    stuckWatch,
    {
      fault: 'takes the pause of a hub that refuses every reply for a defect',
      find: 'Math.max(closedUntil ?? Number.NEGATIVE_INFINITY, beganAt + 1000 / ceiling)',
      replace: 'beganAt + 1000 / ceiling',
      caughtBy: 'are not stuck during the pause after a hub’s refusals',
    },
    {
      fault: 'takes the rate that an operator has set for a defect',
      find: 'beganAt + 1000 / ceiling)',
      replace: 'beganAt)',
      caughtBy: 'at a rate that an operator has set',
    },
  ),
  ...inFile('src/hub/replies/stuckWatch.ts', stuckWatch, {
    fault: 'takes replies without a connection for stuck',
    find: 'isOpen() && sendQueue',
    replace: 'sendQueue',
    caughtBy: 'are not stuck while there is no connection',
  }),
  ...inFile(
    'src/hub/reading/ownerships.ts',
    ownerships,
    {
      fault: 'takes an owner for expired when the clock was set forward',
      find: 'isSameLease(last, record) ? last.unrenewedMs + countedMs : changedMs(record.renewedAt)',
      replace: 'Date.now() - record.renewedAt',
      caughtBy: 'forward makes no record older or younger',
    },
    {
      fault: 'believes the clock of the day about what has changed since the last look',
      find: 'Math.max(0, Math.min(ms, mostMs))',
      replace: 'ms',
      caughtBy: 'makes a record that was renewed since no older than the last read',
    },
  ),
  ...inFile(
    'src/concurrency/standstill.ts',
    standstill,
    {
      fault: 'does not notice that the machine was suspended',
      find: 'ranMs + suspendedMs(now.monotonic)',
      replace: 'ranMs',
      caughtBy: 'stood still while it was suspended',
    },
    {
      fault: 'takes a clock that was set for a suspension',
      find: 'return ms > driftMs ? ms : 0;',
      replace: 'return 3_600_000;',
      caughtBy: 'did not stand still when its clock was set',
    },
    {
      fault: 'asks for the time since boot before each step',
      find: 'const ms = haveDrifted ?',
      replace: 'const ms = haveDrifted || ranMs >= 0 ?',
      caughtBy: 'only when the others have drifted apart',
    },
  ),
  ...inFile('src/observing/messageFields.ts', dispatch, {
    fault: 'takes the time of reading for a time of day',
    find: 'timeOfDay(readAt) - enqueuedTimeUtc',
    replace: 'readAt - enqueuedTimeUtc',
    caughtBy: 'even if the clock of the hub is behind the service’s',
  }),
];
