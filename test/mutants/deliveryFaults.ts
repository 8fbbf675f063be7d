import type { Fault } from './faults.ts';
import { inFile, only } from './inFile.ts';

/** In what carries messages between hub and backends. */
export const deliveryFaults: readonly Fault[] = [
  ...inFile('src/hub/replies/sender.ts', ['test/hub/sender.test.ts'], {
    fault: 'goes on sending what is no longer its own to send',
    find: 'stopped || gone?.aborted',
    replace: 'stopped',
    caughtBy: 'leaves undecided what is no longer ours to send',
  }),
  ...inFile('src/hub/partition/partition.ts', ['test/hub/partition.test.ts'], {
    fault: 'counts a message as done that was not handled to its end',
    find: 'if (handled) done();',
    replace: 'done();',
    caughtBy: 'never checkpoints a message that was not handled to its end',
  }),
  ...inFile('src/backends/attempt.ts', ['test/backends/attempt.test.ts'], {
    fault: 'gives the second attempt more time than the message has',
    find: 'Math.max(1, Math.min(timeoutMs, deadline.remaining()))',
    replace: 'timeoutMs',
    caughtBy: 'has no more time than is left of the message’s',
  }),
  ...inFile('src/hub/reading/tenures.ts', ['test/hub/hangingStop.test.ts'], {
    fault: 'lets a store that hangs hold up the stop',
    find: 'within(release(partition), drainMs + givesBackWithinMs)',
    replace: 'release(partition)',
    caughtBy: 'though the store answers no more',
  }),
  ...inFile('src/hub/stores/memoryStore.ts', only('crashOwnership', 'the first one is held up'), {
    fault: 'takes a checkpoint from who has lost the partition',
    find: 'if (record?.owner !== owner || record.epoch !== epoch) return false;',
    replace: 'if (record === undefined || (owner === "" && epoch === 0)) return false;',
    caughtBy: 'let only one write, wherever the first one is held up',
  }),
  ...inFile('src/hub/partition/horizon.ts', only('crashOwnership', 'the first one dies'), {
    fault: 'forgets that a message may be a repeat',
    find: 'horizon = await newest();',
    replace: 'horizon = Math.min(-1, await newest());',
    caughtBy: 'wherever the first one dies',
  }),
  ...inFile('src/hub/reading/ownerships.ts', only('crashOwnership', 'while nobody dies'), {
    fault: 'takes a partition over without raising its epoch',
    find: 'epoch: (seen?.epoch ?? 0) + 1',
    replace: 'epoch: seen?.epoch ?? 1',
    caughtBy: 'while nobody dies, whoever joins and leaves',
  }),
  ...inFile('src/hub/stores/fileStore.ts', ['test/hub/crashFileStore.test.ts'], {
    fault: 'writes the checkpoint file in place',
    find: 'const draft = ',
    replace: 'const draft = path || ',
    caughtBy: 'leaves the old one or the new one',
  }),
  ...inFile('src/hub/partition/overflow.ts', ['test/hub/crashOutcomes.test.ts'], {
    fault: 'counts what waits in the spool as done',
    find: 'const waiting = { ticket, done: begin() };',
    replace: 'begin()();\n      const waiting = { ticket, done() {} };',
    caughtBy: 'messages that wait in the spool loses none of them',
  }),
];
