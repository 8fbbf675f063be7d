import type { Fault } from './faults.ts';
import { inFile } from './inFile.ts';

const waiting = ['test/hub/waiting.test.ts'];

/** In what keeps messages that merely wait from taking room (B5, D27, D28). */
export const waitingFaults: readonly Fault[] = [
  ...inFile('src/engine/order/lanes.ts', ['test/engine/lanes.test.ts'], {
    fault: 'keeps a place for a message whose backend has gone',
    find: '      budget.of(cost).give(cost);\n      hold(lane, requirement);',
    replace: '      hold(lane, requirement);',
    caughtBy: 'a message whose backend goes while it waits for a slot releases the slot',
  }),
  ...inFile(
    'src/engine/partition/intake.ts',
    waiting,
    {
      fault: 'begins a message though its backend is out',
      find: 'lanes.length(deviceId) === 0 && requirement.isMet()',
      replace: 'lanes.length(deviceId) === 0',
      caughtBy:
        'do not block messages for other backends: 2,000 wait for the information model, and 50 are handled meanwhile',
    },
    {
      fault: 'keeps the place of a message that must wait after all',
      find: '      budget.of(one.cost).give(one.cost);\n',
      replace: '',
      caughtBy: 'take no slot when their backend went while they waited for one',
    },
  ),
  ...inFile('src/backends/bulkhead.ts', waiting, {
    fault: 'keeps the place of a message whose backend goes while it is in work',
    find: '        onOutage?.();\n',
    replace: '        void onOutage;\n',
    caughtBy: 'release their slots when it goes while they are in progress, and are handled when it is back',
  }),
  ...inFile('src/engine/partition/work.ts', waiting, {
    fault: 'keeps the place of a message that is being answered',
    find: 'answering: moveAside,',
    replace: 'answering() {},',
    caughtBy: 'release their slot, and keep their device’s lane',
  }),
  ...inFile('src/engine/partition/partition.ts', waiting, {
    fault: 'leaves charged what waits in a partition that is closed',
    find: '    backlog.clear();\n',
    replace: '',
    caughtBy: 'begins no waiting message, and leaves no charge of it',
  }),
  ...inFile(
    'src/engine/budget/line.ts',
    ['test/engine/budget.test.ts'],
    {
      fault: 'forgets the messages behind one that leaves the line',
      find: 'resolve(false);\n    admitNext();',
      replace: 'resolve(false);',
      caughtBy: 'unblock those behind them when they leave',
    },
    {
      fault: 'keeps a place of the partition for a message that has left the overall line',
      find: '    leave(more);\n    return false;',
      replace: '    return false;',
      caughtBy: 'can leave the queue, and then nothing is charged, here or overall',
    },
  ),
  ...inFile(
    'src/engine/budget/budget.ts',
    ['test/engine/budget.test.ts'],
    {
      fault: 'lets large messages take all of the bytes',
      find: 'const largeShare = 3 / 4;',
      replace: 'const largeShare = 1;',
      caughtBy: 'take three quarters of the bytes at most',
    },
    {
      fault: 'gives each partition as many large messages as all may have',
      find: ', overall?.large);',
      replace: ');',
      caughtBy: 'are counted over all partitions',
    },
    {
      fault: 'never gives back what large messages have taken together',
      find: '      second.give(bytes);\n      first.give(bytes);',
      replace: '      second.give(bytes);',
      caughtBy: 'take three quarters of the bytes at most',
    },
  ),
];
