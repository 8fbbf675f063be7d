import type { Fault } from './faults.ts';
import { inFile } from './inFile.ts';

/** In the way of replies to the hub (C4). */
export const replyFaults: readonly Fault[] = [
  ...inFile('src/hub/replies/handOver.ts', ['test/hub/serviceConnection.test.ts'], {
    fault: 'takes what the link says about a later reply as it is',
    find: "reject(translateError('the hub has not taken the reply', error))",
    replace: 'void translateError, reject(error)',
    caughtBy: 'recognises a rejection with amqp:resource-limit-exceeded, of the first reply and of a later one',
  }),
  ...inFile(
    'src/hub/replies/encoding.ts',
    ['test/hub/encoding.test.ts'],
    {
      fault: 'gives a text of 256 bytes room for a length of one byte',
      find: 'return bytes > 255 ? 5 + bytes',
      replace: 'return bytes > 256 ? 5 + bytes',
      caughtBy: 'bytes arrives unchanged',
    },
    {
      fault: 'writes 256 as a length of one byte',
      find: 'if (length > 255) {',
      replace: 'if (length > 256) {',
      caughtBy: 'bytes arrives unchanged',
    },
    {
      fault: 'takes the length of a text in characters for that in bytes',
      find: '  const length = Buffer.byteLength(text);',
      replace: '  const { length } = text;',
      caughtBy: 'bytes arrives unchanged',
    },
  ),
  ...inFile('src/hub/replies/pendingSends.ts', ['test/hub/serviceConnection.test.ts'], {
    fault: 'replaces the connection because of one late reply',
    find: 'if (pending.looks > looksInTime) pending.expire();',
    replace: 'if (pending.looks > looksInTime) onSilence();',
    caughtBy: 'fails only the reply that is never settled: others continue over the same connection (C4)',
  }),
  ...inFile('src/settings/derived.ts', ['test/hub/replySettings.test.ts'], {
    fault: 'reply time-out in milliseconds instead of seconds',
    find: '(maxWaitSeconds * 1000) / 6',
    replace: 'maxWaitSeconds / 6',
    caughtBy: 'when replies wait 24 s at most, one attempt ends after 4 s',
  }),
  ...inFile(
    'src/hub/replies/rateLimit.ts',
    ['test/hub/rateLimit.test.ts'],
    {
      fault: 'never grows again',
      find: ' * growth((now() - learned.lastSignAt) / 1000)',
      replace: ' * growth(0)',
      caughtBy: 'has no limit again after a time without refusals',
    },
    {
      fault: 'exceeds what an operator has set',
      find: 'if (learned === undefined) return ceiling;',
      replace: 'if (learned === undefined) return 1e9;',
      caughtBy: 'never exceeds the operator’s rate',
    },
  ),
  ...inFile('src/hub/replies/rateLimit.ts', ['test/hub/sender.test.ts'], {
    fault: 'sends on when the quota of the hub is used up',
    find: 'closedUntil = now() + probeEveryMs;',
    replace: 'closedUntil = now() + 1_000;',
    caughtBy: 'tries one reply each minute, and drops none',
  }),
  ...inFile('src/hub/replies/sendQueue.ts', ['test/hub/sender.test.ts', 'test/hub/stuckWatch.test.ts'], {
    fault: 'counts the time with the hub as time without a reason',
    find: '      inFlight -= 1;\n      movedAt = now();\n',
    replace: '      inFlight -= 1;\n',
    caughtBy: 'replies that wait behind an unsettled one are counted from its settlement',
  }),
  ...inFile('src/hub/replies/serviceConnection.ts', ['test/hub/serviceReopening.test.ts'], {
    fault: 'opens a connection after it is closed',
    find: 'isWanted = false;\n      clearTimeout(timer);\n',
    replace: 'isWanted = false;\n',
    caughtBy: 'no connection is opened after the close',
  }),
  ...inFile('src/hub/replies/sendFailure.ts', ['test/hub/serviceConnection.test.ts'], {
    fault: 'gives up a reply whose operation the hub has cancelled',
    find: "  'com.microsoft:operation-cancelled',\n",
    replace: '',
    caughtBy: 'recognises a rejection with com.microsoft:operation-cancelled, of the first reply and of a later one',
  }),
  ...inFile('src/hub/replies/serviceConnection.ts', ['test/hub/idleHour.test.ts'], {
    fault: 'tells of each connection that comes back after the hub closed an idle one',
    find: '    wasEverOpen = true;\n',
    replace: '',
    caughtBy: 'writes nothing for an hour',
  }),
  ...inFile('src/hub/replies/serviceConnection.ts', ['test/hub/serviceReopening.test.ts'], {
    fault: 'does not say that the endpoint is reached again',
    find: "    troubles.clear(source, 'the hub’s service endpoint is reached again');\n",
    replace: '',
    caughtBy: 'the end of an outage is reported once, and not without an outage',
  }),
  ...inFile('src/hub/replies/serviceConnection.ts', ['test/hub/replyRate.test.ts'], {
    fault: 'opens one link after the other though the hub refuses them',
    find: 'refused: 10_000',
    replace: 'refused: 0',
    caughtBy: 'gets one attempt in ten seconds when it refuses links with',
  }),
];
