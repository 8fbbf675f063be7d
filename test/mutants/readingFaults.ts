import type { Fault } from './faults.ts';
import { inFile } from './inFile.ts';

const budget = ['test/engine/budget.test.ts'];
const session = ['test/hub/session.test.ts'];

/** In the spool, the budget, the sessions and the ownership of partitions. */
export const readingFaults: readonly Fault[] = [
  ...inFile(
    'src/hub/reading/readiness.ts',
    ['test/hub/wrongStoreSettings.test.ts', 'test/hub/readiness.test.ts'],
    {
      fault: 'takes trouble with the checkpoint store for a hub without partitions',
      find: '    if (ofStore) return [ofStore];\n',
      replace: '',
      caughtBy: 'a wrong key of the checkpoints',
    },
    {
      fault: 'does not say that a partition waits for the checkpoint store',
      find: "(ofStore ?? 'no sign of life yet')",
      replace: "'no sign of life yet'",
      caughtBy: 'is the store when it has no start of a partition',
    },
  ),
  ...inFile(
    'src/storage/storeFailure.ts',
    ['test/hub/wrongStoreSettings.test.ts'],
    {
      fault: 'takes a wrong key for a missing right',
      find: "if (code === 'AuthenticationFailed' || status === 401)",
      replace: "if (code === 'AuthenticationFailure')",
      caughtBy: 'a wrong key is distinguished from a missing right:',
    },
    {
      fault: 'has no remedy for a folder that is none',
      find: '  ENOTDIR: folder,\n  EISDIR: folder,\n',
      replace: '',
      caughtBy: 'a path that is not a folder is logged with its setting',
    },
  ),
  ...inFile('src/settings/derived.ts', ['test/hub/wrongStoreSettings.test.ts'], {
    fault: 'names the shared account where a store has its own',
    find: "isNowhere(own) ? 'STORE'",
    replace: "!isNowhere(own) ? 'STORE'",
    caughtBy: 'a wrong key of the account for checkpoints',
  }),
  ...inFile('src/engine/partition/partition.ts', ['test/engine/partition.test.ts'], {
    fault: 'sees a gap before the first event',
    find: 'previous !== undefined && next > previous + 1',
    replace: 'next > (previous ?? seen?.sequenceNumber ?? next) + 1',
    caughtBy: 'reports each gap in the sequence numbers once; the first event and a repeat are not gaps',
  }),
  ...inFile(
    'src/hub/reading/gaps.ts',
    ['test/hub/gaps.test.ts'],
    {
      fault: 'blames the retention for events that the hub still has',
      find: 'oldest >= gap.next',
      replace: 'oldest > gap.after',
      caughtBy: 'when the hub still has some of it',
    },
    {
      fault: 'forgets gaps of a session that ends',
      find: '      asked.push(...waiting);\n',
      replace: '',
      caughtBy: 'a gap is reported once, without its reason, when the session ends before that is known',
    },
  ),
  ...inFile(
    'src/engine/spool/spool.ts',
    ['test/engine/spool.test.ts'],
    {
      fault: 'gives a segment away twice',
      find: 'free.pop() ??',
      replace: 'free.at(-1) ??',
      caughtBy: 'reuses a segment once when it is empty',
    },
    {
      fault: 'loses the device of what waits on disk',
      find: 'serialize({ body, properties, systemProperties, ',
      replace: 'serialize({ body, properties, ',
      caughtBy: 'returns all parts of an event',
    },
    {
      fault: 'keeps segments of an empty spool as free',
      find: '      free.length = 0;\n',
      replace: '',
      caughtBy: 'is empty when all messages have been taken',
    },
  ),
  ...inFile('src/engine/spool/blockReader.ts', ['test/engine/blockReader.test.ts'], {
    fault: 'keeps a block in memory for each message',
    find: 'Buffer.from(from.subarray(at, at + length))',
    replace: 'from.subarray(at, at + length)',
    caughtBy: 'returns copies, so that a small piece does not keep a block in memory',
  }),
  ...inFile('src/engine/budget/line.ts', budget, {
    fault: 'keeps overall what a body did not need',
    find: '      overall?.shrink(less);\n',
    replace: '',
    caughtBy:
      'the unused part of a reservation is released in the overall budget as well, and an ended message releases the rest',
  }),
  ...inFile('src/engine/partition/work.ts', ['test/engine/partitionEnd.test.ts'], {
    fault: 'keeps the place of a message that was not handled to its end',
    find: '      giveBack();\n      if (isHandled) end(begun);',
    replace: '      if (isHandled) {\n        giveBack();\n        end(begun);\n      }',
    caughtBy: 'leaves no charge of unfinished messages, nor of those that came from the spool too late',
  }),
  ...inFile(
    'src/engine/budget/capacity.ts',
    budget,
    {
      fault: 'gives back a message overall with bytes alone',
      find: 'whole?.give(less, fewer);',
      replace: 'whole?.give(less);',
      caughtBy: 'also without its message',
    },
    {
      fault: 'charges what finds no room overall',
      find: 'if (!fits || whole?.take(more) === false) return false;\n      messages += 1;',
      replace: 'messages += 1;\n      if (!fits || whole?.take(more) === false) return false;',
      caughtBy: 'charge no message without overall room, and release overall room as well, also without its message',
    },
  ),
  ...inFile(
    'src/hub/reading/session.ts',
    session,
    {
      fault: 'says that what the reader before had begun is new',
      find: 'Math.max(before, position())',
      replace: 'position()',
      caughtBy: 'that of the reader before, when this one has not come so far',
    },
    {
      fault: 'says its position when it does not know what had begun before',
      find: 'before === undefined ? undefined :',
      replace: 'before === undefined ? position() :',
      caughtBy: 'nothing, when it does not know itself',
    },
    {
      fault: 'leaves the spool of a revoked session open',
      find: 'partition.drain(limitMs)]);\n      spool.close();',
      replace: 'partition.drain(limitMs)]);',
      caughtBy: 'is closed when the session was revoked',
    },
    {
      fault: 'goes on with what runs in a revoked session',
      find: '    async close(limitMs) {\n      partition.revoke();',
      replace: '    async close(limitMs) {',
      caughtBy: 'A revoked session aborts its messages at once, and writes no checkpoint',
    },
    {
      fault: 'leaves the spool of a drained session open',
      find: '      partition.revoke();\n      spool.close();',
      replace: '      partition.revoke();',
      caughtBy: 'is closed when the session has drained',
    },
  ),
  ...inFile(
    'src/hub/reading/sessions.ts',
    ['test/hub/sessions.test.ts'],
    {
      fault: 'takes a later claim of its own for the one that it reads under',
      find: 'own.owner === owner && own.epoch === epoch',
      replace: 'own.owner === owner',
      caughtBy: 'this instance has claimed the partition anew since',
    },
    {
      fault: 'forgets what the last owner said when it opens no more',
      find: 'progress === undefined) return ownerships.release(record, begun);',
      replace: 'progress === undefined) return ownerships.release(record, undefined);',
      caughtBy: 'A partition that is no longer read is released with the last owner’s values',
    },
  ),
  ...inFile(
    'src/hub/reading/ownerships.ts',
    ['test/hub/ownerships.test.ts'],
    {
      fault: 'releases a later claim of its own',
      find: ' && one.epoch === epoch',
      replace: '',
      caughtBy: 'A partition that this instance has claimed again is not released by its previous session',
    },
    {
      fault: 'asks as if it had asked for ever',
      find: 'wantedSince: Date.now() })',
      replace: 'wantedSince: 0 })',
      caughtBy: 'The time of a request begins when it is made, so that the owner has its whole time to release',
    },
  ),
  ...inFile('src/hub/reading/reader.ts', ['test/hub/reader.test.ts'], {
    fault: 'does not know the code with which the client reports a lost partition',
    find: "'ReceiverDisconnectedError'",
    replace: "'ReceiverDisconnected'",
    caughtBy: 'a reader learns from the hub that it lost the partition to a reader with a higher epoch that',
  }),
  ...inFile(
    'src/hub/reading/partitionIds.ts',
    ['test/hub/recount.test.ts'],
    {
      fault: 'counts the partitions in every round',
      find: '    countedAt = performance.now();\n',
      replace: '    countedAt = Number.NEGATIVE_INFINITY;\n',
      caughtBy: 'are counted every five minutes',
    },
    {
      fault: 'counts again in every round after a failure',
      find: '    countedAt = performance.now();\n    ids = await ask();\n',
      replace: '    ids = await ask();\n    countedAt = performance.now();\n',
      caughtBy: 'are counted every five minutes',
    },
  ),
  ...inFile('src/hub/reading/readiness.ts', ['test/hub/health.test.ts'], {
    fault: 'is content while it reads nothing at all',
    find: 'return now - answeredAt;',
    replace: 'return 0;',
    caughtBy:
      'A service without an answer of the hub is not ready, stays live for five minutes, and then asks for a restart',
  }),
  ...inFile(
    'src/hub/reading/rounds.ts',
    ['test/hub/wrongSettings.test.ts'],
    {
      fault: 'asks for a restart when the hub refuses to be looked at',
      find: 'if (diagnosis?.isAnswer) last =',
      replace: 'if (diagnosis === null) last =',
      caughtBy:
        'a wrong key is logged in one line with the setting, the hub’s answer and the remedy; a refusal asks for no restart',
    },
    {
      fault: 'asks for no restart when the hub does not answer',
      find: 'if (diagnosis?.isAnswer) last =',
      replace: 'if (diagnosis) last =',
      caughtBy:
        'a port that refuses is logged in one line with the setting, the hub’s answer and the remedy; a refusal asks for no restart',
    },
    {
      fault: 'asks for a restart when the hub refuses a partition',
      find: 'troubles.of(partition)?.isAnswer ?? false',
      replace: 'false',
      caughtBy:
        'a partition that is not there is logged in one line with the setting, the hub’s answer and the remedy; a refusal asks for no restart',
    },
  ),
  ...inFile(
    'src/hub/reading/share.ts',
    ['test/hub/share.test.ts'],
    {
      fault: 'opens what is being opened',
      find: 'own.filter((partition) => stateOf(partition) === undefined)',
      replace: "own.filter((partition) => stateOf(partition) !== 'reading')",
      caughtBy: 'with a partition that is being opened',
    },
    {
      fault: 'takes a partition that was never read for one that others read',
      find: 'partitions.every(',
      replace: 'partitions.some(',
      caughtBy: 'but not when one has never been read',
    },
  ),
  ...inFile('src/hub/reading/quiet.ts', ['test/hub/quiet.test.ts'], {
    fault: 'takes a new subscription for an answer',
    find: 'deafMs: now - heard',
    replace: 'deafMs: now - Math.max(subscribed, heard)',
    caughtBy: 'a new subscription: it may deliver yet',
  }),
  ...inFile('src/hub/reading/readiness.ts', ['test/hub/readiness.test.ts'], {
    fault: 'is content while a partition cannot be opened',
    find: 'unreadSince === undefined ? 0 : now - unreadSince',
    replace: '0 * (unreadSince ?? 0)',
    caughtBy: 'when a partition could not be opened',
  }),
  ...inFile(
    'src/hub/reading/sessionLife.ts',
    ['test/hub/sessionLife.test.ts'],
    {
      fault: 'revokes a session twice',
      find: "      if (state === 'revoked') return;\n",
      replace: '',
      caughtBy: 'is revoked once',
    },
    {
      fault: 'drains a session that was revoked',
      find: "if (state === 'reading') {",
      replace: "if (state !== 'draining') {",
      caughtBy: 'that is revoked does not drain',
    },
  ),
  ...inFile('src/concurrency/repeating.ts', ['test/concurrency/repeating.test.ts'], {
    fault: 'begins another round after a stop',
    find: 'if (!isStopped) after(pauseMs());',
    replace: 'after(pauseMs());',
    caughtBy: 'no other begins',
  }),
  ...inFile('src/hub/reading/gaps.ts', ['test/hub/gaps.test.ts'], {
    fault: 'reports a gap again after the end of the session',
    find: '      waiting = [];\n      reportAll(0);',
    replace: '      reportAll(0);',
    caughtBy: 'a gap is reported once, without its reason, when the session ends before that is known',
  }),
  ...inFile(
    'src/hub/reading/readingTroubles.ts',
    ['test/hub/readingTroubles.test.ts'],
    {
      fault: 'says that the hub can be read again while a partition cannot',
      find: '    if (sharing(diagnosis.cause).length > 0) return;\n',
      replace: '',
      caughtBy: 'the end of a trouble is reported once, when the last partition with it is read again',
    },
    {
      fault: 'does not end the trouble that a partition had before',
      find: 'if (known.get(place)?.cause !== diagnosis.cause) clear(place);',
      replace: '',
      caughtBy:
        'when a partition changes to another trouble, the end of the earlier one is reported only if no other partition has it',
    },
    {
      fault: 'remembers the trouble of a partition that is read',
      find: '    known.delete(place);\n',
      replace: '',
      caughtBy: 'the end of a trouble is reported once, when the last partition with it is read again',
    },
  ),
  ...inFile('src/hub/reading/reader.ts', ['test/hub/wrongSettings.test.ts'], {
    fault: 'asks for a restart when the hub refuses to be read',
    find: 'if (diagnosis.isAnswer) signs = { ...signs, refused: performance.now() };',
    replace: 'signs = { ...signs };',
    caughtBy:
      'a consumer group that is not there is logged in one line with the setting, the hub’s answer and the remedy; a refusal asks for no restart',
  }),
];
