import type { Fault } from './faults.ts';
import { inFile } from './inFile.ts';

/** In the look-up of the event endpoint, and in what follows a failover. */
export const failoverFaults: readonly Fault[] = [
  ...inFile(
    'src/hub/endpoint/lookUpTimes.ts',
    ['test/hub/endpoint/lookUpTimes.test.ts'],
    {
      fault: 'asks the hub in each round once a partition is not read',
      find: 'now - unreadSince >= unreadMs && sinceAsked >= unreadMs',
      replace: 'now - unreadSince >= unreadMs',
      caughtBy:
        'a hub is asked half a minute after a partition is not read any more, and each half a minute until it is',
    },
    {
      fault: 'remembers that a partition was not read',
      find: 'unreadSince = isUnread ? (unreadSince ?? now) : undefined;',
      replace: 'unreadSince = isUnread ? (unreadSince ?? now) : unreadSince;',
      caughtBy: 'a partition that is read again in time, again and again, is no reason',
    },
  ),
  ...inFile(
    'src/hub/endpoint/followHub.ts',
    ['test/hub/endpoint/followHub.test.ts'],
    {
      fault: 'leaves messages of the endpoint before undone',
      find: 'current.consumer.waiting().messages === 0 ||',
      replace: 'current.consumer.waiting().messages >= 0 ||',
      caughtBy: 'is read there only when the messages that were read before are done, or have had five minutes',
    },
    {
      fault: 'begins beside other instances that have not left',
      find: 'await othersLeave(entry.others);',
      replace: '',
      caughtBy:
        'is read there only when other instances have left the first, or have had the time in which they lose it',
    },
    {
      fault: 'begins at the newest event of the endpoint before',
      find: 'newest.getTime() - limits.overlapMs',
      replace: 'newest.getTime()',
      caughtBy: 'is read at the other endpoint, from before the newest event of the first, counted and logged',
    },
    {
      fault: 'counts the endpoint that it reads as another one',
      find: 'if (named && isSameEndpoint(named, found)) return;',
      replace: '',
      caughtBy: 'is not left when it names the same endpoint again',
    },
  ),
  ...inFile('src/hub/endpoint/endpointRecord.ts', ['test/hub/endpoint/endpointRecord.test.ts'], {
    fault: 'gives the first endpoint a start position',
    find: 'const entered = known.length === 0 ? first : next;',
    replace: 'const entered = next;',
    caughtBy: 'the first endpoint of a hub has none before it, and no start position of its own',
  }),
  ...inFile('src/hub/endpoint/lookUp.ts', ['test/hub/endpoint/lookUp.test.ts'], {
    fault: 'leaves its socket open',
    find: 'socket?.destroy?.();',
    replace: '',
    caughtBy: 'a hub that says nothing is given up in time, and no connection is left',
  }),
];
