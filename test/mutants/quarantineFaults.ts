import type { Fault } from './faults.ts';
import { inFile } from './inFile.ts';

const restarts = ['test/engine/quarantine/restarts.test.ts'];
const rules = ['test/engine/quarantine/quarantine.test.ts'];

/** In what keeps a message from ending the process for ever. */
export const quarantineFaults: readonly Fault[] = [
  ...inFile(
    'src/engine/quarantine/crashRecord.ts',
    [...restarts, 'test/engine/quarantine/crashRecord.test.ts'],
    {
      fault: 'forgets that a cleared suspect is slow',
      find: 'return isCleared && !known.isSlow ?',
      replace: 'return isCleared ?',
      caughtBy: 'a slow message, even if it waited and is cleared',
    },
    {
      fault: 'suspects what has finished above the position',
      find: 'number > position && !isDone(number)',
      replace: 'number > position',
      caughtBy: 'no message that has finished since',
    },
    {
      fault: 'takes the suspects of a crash record for those of another position',
      find: '      before = sequenceNumber;',
      replace: '      before = sequenceNumber - 1;',
      caughtBy: 'is written as',
    },
  ),
  ...inFile('src/engine/quarantine/suspectsInWork.ts', [...restarts, ...rules], {
    fault: 'counts the suspects of partitions that are closed',
    find: '        partitions.delete(partition);',
    replace: '',
    caughtBy: 'does not include suspects of a closed partition',
  }),
  ...inFile(
    'src/engine/quarantine/turns.ts',
    [...restarts, ...rules],
    {
      fault: 'begins slow suspects together with others',
      find: 'slow: isIdle && isSlowTime }',
      replace: 'slow: isSlowTime }',
      caughtBy: 'has earlier slow suspects last, when no other of the partition is in progress',
    },
    {
      fault: 'begins slow suspects before others have come',
      find: 'slow: isIdle && isSlowTime }',
      replace: 'slow: isIdle }',
      caughtBy: 'begins slow suspects only after those of all partitions have had a head start',
    },
    {
      fault: 'begins any number of slow suspects together',
      find: 'Math.min(quarter, mostSlow)',
      replace: 'quarter',
      caughtBy: 'has a quarter of the slow suspects at a time, up to a limit',
    },
    {
      fault: 'never tells suspects apart',
      find: 'const turns = 4;',
      replace: 'const turns = 1;',
      caughtBy: 'has those in progress at the last shutdown last, a quarter at a time',
    },
  ),
  ...inFile(
    'src/engine/quarantine/quarantine.ts',
    [...restarts, ...rules],
    {
      fault: 'parks a message that was alone at two unclean shutdowns',
      find: 'endsUntilParked = 3',
      replace: 'endsUntilParked = 2',
      caughtBy: 'is executed at the third attempt',
    },
    {
      fault: 'waits for slow suspects as long as they take',
      find: 'if (!isSlow) setTimeout(goOn, patienceMs,',
      replace: 'if (!isSlow) setTimeout(goOn, patienceMs * 1_000,',
      caughtBy: 'waits a second at most for slow suspects',
    },
    {
      fault: 'takes a suspect for slow that was held up a moment ago',
      find: 'if (wasHeldUp || suspect.wasHeldUp) return true;',
      replace: 'if (suspect.wasHeldUp) return true;',
      caughtBy: 'does not wait for a blocked suspect, and a suspect is slow only when it is in progress twice in a row',
    },
    {
      fault: 'lets a device go on before its suspect is in a checkpoint',
      find: '      return save().then(() => {});',
      replace: '      void save();\n      return undefined;',
      caughtBy: 'allows its device to continue when a checkpoint has it',
    },
    {
      fault: 'suspects every message of a device',
      find: 'sequenceNumber > upTo || devices.has(deviceId)',
      replace: 'sequenceNumber > upTo',
      caughtBy: 'is the first message of a device',
    },
  ),
  ...inFile('src/engine/partition/intake.ts', restarts, {
    fault: 'begins suspects beside others as they come',
    find: ' && !quarantine?.isSuspect(deviceId, event.sequenceNumber)',
    replace: '',
    caughtBy:
      'is parked after the shutdowns that identify it and three isolated runs, and all others are handled in order',
  }),
  ...inFile('src/engine/order/lanes.ts', ['test/engine/lanes.test.ts'], {
    fault: 'keeps the turn of a suspect that a backend holds up',
    find: '    quarantine?.putBack(lane.deviceId, lane.first.sequenceNumber);\n',
    replace: '',
    caughtBy: 'a suspect whose backend goes before it begins waits for another turn',
  }),
  ...inFile('src/hub/reading/startPosition.ts', ['test/engine/quarantine/uncleanShutdowns.test.ts'], {
    fault: 'keeps an unclean shutdown to itself',
    find: 'crashRecord === before || (await store.writeProgress(record, marked))',
    replace: 'crashRecord !== undefined || (await store.writeProgress(record, marked))',
    caughtBy: 'whose reader died has that recorded once, before it is read, and once more after the next death',
  }),
  ...inFile('src/hub/reading/sessions.ts', ['test/engine/quarantine/uncleanShutdowns.test.ts'], {
    fault: 'forgets an unclean shutdown when the partition cannot be opened at once',
    find: 'const afterUncleanShutdown = uncounted.has(partition);',
    replace: 'const afterUncleanShutdown = uncounted.delete(partition);',
    caughtBy: 'that cannot be opened at first is counted when that succeeds',
  }),
  ...inFile('src/hub/reading/rounds.ts', ['test/engine/quarantine/uncleanShutdowns.test.ts'], {
    fault: 'takes a partition that was given back for one that died',
    find: 'seen !== undefined && seen.begun === undefined',
    replace: 'seen !== undefined',
    caughtBy: 'that was released is read without a new count, and the earlier count stays',
  }),
];
