import type { Fault } from './faults.ts';
import { inFile } from './inFile.ts';

const waiting = ['test/hub/waiting.test.ts'];

/** In what keeps messages that merely wait from taking room (B5, D27, D28). */
export const waitingFaults: readonly Fault[] = [
  ...inFile(
    'src/engine/order/lanes.ts',
    ['test/engine/lanes.test.ts'],
    {
      fault: 'keeps a place for a message whose backend has gone',
      find: '      budget.of(cost).give(cost);\n      hold(lane, requirement);',
      replace: '      hold(lane, requirement);',
      caughtBy: 'a message whose backend goes while it waits for a slot releases the slot',
    },
    {
      fault: 'lets the latest messages begin first when a backend is back',
      find: 'released.sort(inOrderOfArrival)',
      replace: 'released.reverse()',
      caughtBy:
        'messages for an unavailable backend wait without a slot, and begin in order of arrival when it is back',
    },
  ),
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
      fault: 'waits for others though its own backend is back',
      find: '    watch(one);\n',
      replace: '    void watch;\n',
      caughtBy: 'do not block a message whose own backend comes back while they fill the spool',
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
  ...inFile(
    'src/engine/partition/work.ts',
    waiting,
    {
      fault: 'keeps the place of a message that is being answered',
      find: 'answering: moveAside,',
      replace: 'answering() {},',
      caughtBy: 'release their slot, and keep their device’s lane',
    },
    {
      fault: 'has any number of messages that are being answered',
      find: 'if (budget.answering.take(held + more)) {',
      replace: 'if (budget.answering.take(held + more) || more >= 0) {',
      caughtBy: 'keep their slots when the budget of replies has no room: that is the back-pressure',
    },
  ),
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
  ...inFile('src/engine/budget/pace.ts', ['test/engine/pace.test.ts'], {
    fault: 'begins more messages though most of them wait for connections',
    find: 'if (busy < shares.spare && !isInLine)',
    replace: 'if (busy < shares.spare)',
    caughtBy: 'while more than half of them wait for connections',
  }),
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
