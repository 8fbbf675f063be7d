import type { Fault } from './faults.ts';
import { inFile } from './inFile.ts';

/** In the way of replies to the hub (C4). */
export const replyFaults: readonly Fault[] = [
  ...inFile('src/hub/replies/handOver.ts', ['test/hub/serviceConnection.test.ts'], {
    fault: 'takes what the link says about a later reply as it is',
    find: "reject(translateError('the hub has not taken the reply', error))",
    replace: 'void translateError, reject(error)',
    caughtBy: 'understands a rejection with amqp:resource-limit-exceeded',
  }),
  ...inFile(
    'src/hub/replies/encoding.ts',
    ['test/hub/encoding.test.ts'],
    {
      fault: 'gives a text of 256 bytes room for a length of one byte',
      find: 'return bytes > 255 ? 5 + bytes',
      replace: 'return bytes > 256 ? 5 + bytes',
      caughtBy: 'a text of exactly 256 bytes arrives whole',
    },
    {
      fault: 'writes 256 as a length of one byte',
      find: 'if (length > 255) {',
      replace: 'if (length > 256) {',
      caughtBy: 'a text of exactly 256 bytes arrives whole',
    },
    {
      fault: 'takes the length of a text in characters for that in bytes',
      find: '  const length = Buffer.byteLength(text);',
      replace: '  const { length } = text;',
      caughtBy: 'a text of exactly 255 bytes arrives whole',
    },
  ),
  ...inFile(
    'src/hub/replies/pendingSends.ts',
    ['test/hub/serviceConnection.test.ts'],
    {
      fault: 'replaces the connection because of one late reply',
      find: 'if (pending.looks > looksInTime) pending.expire();',
      replace: 'if (pending.looks > looksInTime) onSilence();',
      caughtBy: 'alone: the others go on over the same connection',
    },
    {
      fault: 'blames a reply for the time that the hub takes for those before it',
      find: 'pending.number > lowestSettled ? 0 : pending.looks + 1',
      replace: 'pending.looks + 1',
      caughtBy: 'waits for a reply as long as the hub settles those before it',
    },
  ),
  ...inFile('src/hub/replies/sender.ts', ['test/hub/sender.test.ts'], {
    fault: 'sends again what the hub has settled late',
    find: 'void refusal.late?.then((outcome) => outcome ?? settledLate());',
    replace: '',
    caughtBy: 'sends nothing again that the hub settles after its time',
  }),
  ...inFile('src/hub/replies/sender.ts', ['test/hub/sender.test.ts'], {
    fault: 'slows down because connecting takes its time',
    find: '      began = now(); //',
    replace: '      began = Math.min(began, now()); //',
    caughtBy: 'takes the time that a connection takes for no sign of throttling',
  }),
  ...inFile('src/hub/replies/sender.ts', ['test/hub/sender.test.ts'], {
    fault: 'counts no time without an answer',
    find: 'remainingMs -= answerWithinMs;',
    replace: 'remainingMs -= 0 * answerWithinMs;',
    caughtBy: 'counts the time without an answer',
  }),
  ...inFile(
    'src/hub/replies/replies.ts',
    ['test/hub/replySettings.test.ts'],
    {
      fault: 'reply patience in milliseconds instead of seconds',
      find: 'maxWaitMs: maxWaitSeconds * 1000',
      replace: 'maxWaitMs: maxWaitSeconds',
      caughtBy: 'a reply is given up after REPLIES_MAX_WAIT_SECONDS',
    },
    {
      fault: 'takes the replies a minute for those a second',
      find: 'sendsPerMinute / 60',
      replace: 'sendsPerMinute',
      caughtBy: 'no more replies than REPLIES_SENDS_PER_MINUTE are sent',
    },
  ),
  ...inFile('src/settings/derived.ts', ['test/hub/replySettings.test.ts'], {
    fault: 'reply time-out in milliseconds instead of seconds',
    find: '(maxWaitSeconds * 1000) / 6',
    replace: 'maxWaitSeconds / 6',
    caughtBy: 'with REPLIES_MAX_WAIT_SECONDS=24 a send is not waited for after 4 s',
  }),
  ...inFile(
    'src/hub/replies/fairQueue.ts',
    ['test/hub/fairQueue.test.ts'],
    {
      fault: 'lets failures wait behind everything else',
      find: 'first.size > 0 ? first : others',
      replace: 'others.size > 0 ? others : first',
      caughtBy: 'begin with failures in each round',
    },
    {
      fault: 'gives a device all turns while it has something to say',
      find: '    if (served.has(deviceId)) return;\n',
      replace: '',
      caughtBy: 'come to each device in the end',
    },
  ),
  ...inFile(
    'src/hub/replies/rateLimit.ts',
    ['test/hub/rateLimit.test.ts'],
    {
      fault: 'learns nothing from throttling',
      find: "refusal?.reason === 'throttled' || ",
      replace: '',
      caughtBy: 'with a hub that refuses the rest',
    },
    {
      fault: 'learns nothing from late answers',
      find: ' || (refusal === undefined && now() - sentAt > slowMs)',
      replace: '',
      caughtBy: 'leaves little to a hub that holds replies back',
    },
    {
      fault: 'never grows again',
      find: ' * growth((now() - learned.lastSignAt) / 1000)',
      replace: ' * growth(0)',
      caughtBy: 'is forgotten in the end',
    },
    {
      fault: 'cuts the pace for each reply that was under way',
      find: 'learned !== undefined && sentAt <= learned.cutAt',
      replace: 'learned !== undefined && sentAt < 0',
      caughtBy: 'is cut once for all that was under way',
    },
    {
      fault: 'exceeds what an operator has set',
      find: 'if (learned === undefined) return ceiling;',
      replace: 'if (learned === undefined) return 1e9;',
      caughtBy: 'never exceeds what an operator has set',
    },
  ),
  ...inFile('src/hub/replies/rateLimit.ts', ['test/hub/sender.test.ts'], {
    fault: 'sends on when the quota of the hub is used up',
    find: 'closedUntil = now() + probeEveryMs;',
    replace: 'closedUntil = now() + 1_000;',
    caughtBy: 'tries one reply each minute, and drops none',
  }),
  ...inFile('src/hub/replies/sendFailure.ts', ['test/hub/serviceConnection.test.ts'], {
    fault: 'takes the quota of the hub for a full queue',
    find: '  if (isQuota(error)) return quota;\n',
    replace: '',
    caughtBy: 'tells the quota of the hub from the queue of a device',
  }),
  ...inFile('src/hub/replies/rateLimit.ts', ['test/hub/rateLimit.test.ts'], {
    fault: 'sends on after a quota when the connection fails',
    find: "if (refusal?.kind !== 'connection') closedUntil = undefined;",
    replace: 'closedUntil = undefined;',
    caughtBy: 'not lifted by a connection that fails',
  }),
  ...inFile('src/hub/replies/replyTroubles.ts', ['test/hub/sender.test.ts'], {
    fault: 'says that the hub takes replies again when the connection fails',
    find: "if (refusal?.kind !== 'hub' && refusal?.kind !== 'connection') {",
    replace: "if (refusal?.kind !== 'hub') {",
    caughtBy: 'goes on saying that the quota is used up',
  }),
  ...inFile('src/hub/replies/sendFailure.ts', ['test/hub/serviceConnection.test.ts'], {
    fault: 'gives up a reply whose operation the hub has cancelled',
    find: "  'com.microsoft:operation-cancelled',\n",
    replace: '',
    caughtBy: 'understands a rejection with com.microsoft:operation-cancelled',
  }),
  ...inFile('src/hub/replies/serviceClient.ts', ['test/hub/serviceReopening.test.ts'], {
    fault: 'spares a hub that has taken replies because it was busy in the end',
    find: "use = use === 'none' ? 'refused' : use;",
    replace: "use = 'refused';",
    caughtBy: 'has taken a reply before it was busy',
  }),
  ...inFile(
    'src/hub/replies/serviceConnection.ts',
    ['test/hub/serviceReopening.test.ts'],
    {
      fault: 'opens a connection again that nobody wants open',
      find: 'if (isWanted) openAgainIn',
      replace: 'if (isWanted || timer === undefined) openAgainIn',
      caughtBy: 'no connection is opened unasked',
    },
    {
      fault: 'says that the endpoint is reached again for each reply that has waited',
      find: '    if (current !== client || open) return true;',
      replace: '    if (current !== client) return true;',
      caughtBy: 'says once that the endpoint is reached again',
    },
    {
      fault: 'says that the endpoint is reached again over a connection that is lost',
      find: '    if (current !== client || open) return true;',
      replace: '    if (open) return true;',
      caughtBy: 'says once that the endpoint is reached again',
    },
    {
      fault: 'does not say that the endpoint is reached again',
      find: "    troubles.over(source, 'the hub’s service endpoint is reached again');\n",
      replace: '',
      caughtBy: 'says once that the endpoint is reached again',
    },
  ),
  ...inFile('src/hub/replies/serviceConnection.ts', ['test/hub/replyRate.test.ts'], {
    fault: 'opens one link after the other though the hub refuses them',
    find: 'refused: 10_000',
    replace: 'refused: 0',
    caughtBy: 'is asked for one link in ten seconds',
  }),
];
