import { dispatchFaults } from './dispatchFaults.ts';
import type { Fault } from './faults.ts';
import { inFile } from './inFile.ts';
import { replyFaults } from './replyFaults.ts';

/** In what carries messages between hub and backends. */
export const deliveryFaults: readonly Fault[] = [
  ...replyFaults,
  ...dispatchFaults,
  ...inFile(
    'src/programs/service.ts',
    ['test/hub/health.test.ts'],
    {
      fault: 'stops without a count',
      find: "log.info(metrics.summary(), 'stopped');",
      replace: "log.info({}, 'stopped');",
      caughtBy: 'A service that stops sends its last metrics, and its last log line has the same counts',
    },
    {
      fault: 'does not send the last metrics',
      find: 'server.close(), metrics.close(), admin.close()]',
      replace: 'server.close(), admin.close()]',
      caughtBy: 'A service that stops sends its last metrics',
    },
  ),
  ...inFile('src/metrics/otlp.ts', ['test/metrics/otlp.test.ts'], {
    fault: 'ends without sending the last values',
    find: 'return () => provider.shutdown();',
    replace: 'return async () => void provider;',
    caughtBy: 'the last values are sent at the close',
  }),
  ...inFile(
    'src/metrics/summary.ts',
    ['test/metrics/summary.test.ts'],
    {
      fault: 'counts what succeeded among what failed',
      find: "total('device_messaging.handled.messages') - succeeded",
      replace: "total('device_messaging.handled.messages')",
      caughtBy: 'the last line of the log has each count under its own name',
    },
    {
      fault: 'counts what could not be parked as parked',
      find: "total('device_messaging.dead_letters', 'parked')",
      replace: "total('device_messaging.dead_letters')",
      caughtBy: 'the last line of the log has each count under its own name',
    },
  ),
  ...inFile(
    'src/concurrency/atMost.ts',
    ['test/concurrency/atMost.test.ts'],
    {
      fault: 'frees a place that it has handed over',
      find: 'if (next) next();\n      else running -= 1;',
      replace: 'if (next) next();\n      running -= 1;',
      caughtBy: 'tasks run up to the limit at once, in the order of arrival, even if some fail',
    },
    {
      fault: 'begins with what came last',
      find: 'waiting.shift()',
      replace: 'waiting.pop()',
      caughtBy: 'in the order of arrival',
    },
  ),
  ...inFile(
    'src/deadLetters/blobs.ts',
    ['test/deadLetters/width.test.ts'],
    {
      fault: 'reads all dead letters at once',
      find: '      const bytes = await inTurn(() =>\n        attempt(',
      replace: '      const bytes = await atMost(1_000)(() =>\n        attempt(',
      caughtBy: 'no more than 32 calls to the storage',
    },
    {
      fault: 'deletes all dead letters at once',
      find: '      await inTurn(() =>\n        attempt(`deleting',
      replace: '      await atMost(1_000)(() =>\n        attempt(`deleting',
      caughtBy: 'no more than 32 calls to the storage',
    },
    {
      fault: 'writes all dead letters at once',
      find: 'await inTurn(async () => {',
      replace: 'await atMost(1_000)(async () => {',
      caughtBy: 'no more than 32 calls to the storage',
    },
  ),
  ...inFile('src/hub/reading/sessions.ts', ['test/hub/hangingStop.test.ts'], {
    fault: 'lets a store that hangs hold up the stop',
    find: 'within(release(partition), drainMs + releaseWithinMs)',
    replace: 'release(partition)',
    caughtBy: 'though the store answers no more',
  }),
  ...inFile('src/hub/reading/sessionLife.ts', ['test/hub/lostWhileDraining.test.ts'], {
    fault: 'goes on draining a partition of another instance',
    find: "if (state === 'draining') session.revoke();\n      else end",
    replace: "if (state !== 'draining') end",
    caughtBy: 'sends and calls nothing more after it sees that another instance owns the partition',
  }),
  ...inFile('src/hub/reading/balance.ts', ['test/hub/balance.test.ts'], {
    fault: 'takes a partition by force while its owner may still drain',
    find: 'forceMs: expiryMs + drainMs',
    replace: 'forceMs: drainMs + 15_000',
    caughtBy: 'a forced takeover comes neither before the owner’s expiry nor before its drain limit, for any settings',
  }),
  ...inFile('src/hub/reading/balance.ts', ['test/hub/balance.test.ts'], {
    fault: 'leaves a partition to itself that it does not need any more',
    find: 'const withdraw = [...needless, ',
    replace: 'const withdraw = [',
    caughtBy: 'a request for more than the share of an instance is withdrawn when others have come (D412)',
  }),
  ...inFile('src/hub/reading/balance.ts', ['test/hub/balance.test.ts'], {
    fault: 'requests the same partitions as other instances that decide at the same time',
    find: 'inOrderOf(me, available,',
    replace: "inOrderOf('', available,",
    caughtBy: 'instances that decide at the same time request different partitions',
  }),
  ...inFile('src/engine/progress/checkpoints.ts', ['test/engine/checkpoints.test.ts'], {
    fault: 'counts what is passed over as handled',
    find: "writer.changed('passed');",
    replace: "writer.changed('handled');",
    caughtBy: 'for skipped events is written at the interval and no sooner, also with one handled message among them',
  }),
  ...inFile('src/engine/progress/tracked.ts', ['test/engine/tracked.test.ts'], {
    fault: 'forgets what the reader before had done and this one has not come to yet',
    find: 'watermark.doneAbove(), before)',
    replace: 'watermark.doneAbove())',
    caughtBy: 'still has the work of the previous reader that this one has not reached',
  }),
  ...inFile('src/engine/progress/completionMap.ts', ['test/engine/completionMap.test.ts'], {
    fault: 'inflates without limit what a store returns',
    find: ', { maxOutputLength: maxBytes }',
    replace: '',
    caughtBy: 'is not inflated beyond its largest size',
  }),
  ...inFile('src/backends/cache.ts', ['test/backends/cache.test.ts'], {
    fault: 'holds any number of answers',
    find: 'maxSize: maxEntries,',
    replace: 'maxSize: maxEntries * 1_000,',
    caughtBy: 'never exceeds its bound, even if',
  }),
  ...inFile('src/hub/stores/memoryStore.ts', ['test/hub/crashOwnership.test.ts'], {
    fault: 'takes a checkpoint from an instance that has lost the partition',
    find: 'if (record?.owner !== owner || record.epoch !== epoch) return false;',
    replace: 'if (record === undefined || (owner === "" && epoch === 0)) return false;',
    caughtBy: 'lose nothing, and have one writer only, at whichever step the',
  }),
  ...inFile('src/engine/progress/redeliveryHorizon.ts', ['test/hub/crashOwnership.test.ts'], {
    fault: 'forgets that a message may be a repeat',
    find: 'redeliveryHorizon = await newest();',
    replace: 'redeliveryHorizon = Math.min(-1, await newest());',
    caughtBy: 'at whichever step the first one dies',
  }),
  ...inFile('src/hub/reading/ownerships.ts', ['test/hub/crashOwnership.test.ts'], {
    fault: 'takes a partition over without raising its epoch',
    find: 'epoch: (seen?.epoch ?? 0) + 1',
    replace: 'epoch: seen?.epoch ?? 1',
    caughtBy: 'handle each message once while instances join and leave and none dies',
  }),
  ...inFile('src/hub/stores/fileStore.ts', ['test/hub/crashFileStore.test.ts'], {
    fault: 'writes the checkpoint file in place',
    find: 'const draft = ',
    replace: 'const draft = path || ',
    caughtBy:
      'an instance that dies while it writes its file leaves the old or the new one, and the next process continues with it',
  }),
  ...inFile(
    'src/hub/stores/fileStore.ts',
    ['test/hub/fileStore.test.ts'],
    {
      fault: 'stays deaf when the process that took its file has gone',
      find: '      if (!others.hasGone()) return;\n      taken = undefined;\n',
      replace: '      return void others.hasGone();\n',
      caughtBy: 'takes it back within the expiry',
    },
    {
      fault: 'does not show that it is still there',
      find: '      if (changed !== undefined) await renew();\n',
      replace: '      void renew;\n',
      caughtBy: 'does not take it while the other renews, however long',
    },
  ),
  ...inFile('src/hub/stores/keeperWatch.ts', ['test/hub/fileStore.test.ts'], {
    fault: 'counts the time in which it stood still',
    find: 'Math.min(at - last.at, expiryMs / 3)',
    replace: 'at - last.at',
    caughtBy: 'does not count its own standstill as missing renewals of the other',
  }),
  ...inFile('src/engine/partition/partition.ts', ['test/hub/crashOutcomes.test.ts'], {
    fault: 'counts what waits in the spool as done',
    find: 'begin: (event) => checkpoints.begin(see(event)),',
    replace:
      'begin(event) {\n      const begun = checkpoints.begin(see(event));\n      checkpoints.end(begun);\n      return begun;\n    },',
    caughtBy: 'messages in the spool loses none of them, and keeps their order',
  }),
  ...inFile('src/deadLetters/parking.ts', ['test/dispatch/dispatch.test.ts'], {
    fault: 'waits for a store that does not remove a dead letter',
    find: 'releaseWithinMs);\n    ',
    replace: '1e9);\n    ',
    caughtBy: 'is completed when its dead letter cannot be removed',
  }),
];
