import type { Fault } from './faults.ts';
import { inFile } from './inFile.ts';

/** In the limits of dead letters, and in what is known of them. */
export const deadLetterFaults: readonly Fault[] = [
  ...inFile(
    'src/deadLetters/excess.ts',
    ['test/deadLetters/excess.test.ts'],
    {
      fault: 'lets a device have as many bytes as all',
      find: '    if (device.letters > 1 && device.bytes > limits.deviceBytes) return false;\n',
      replace: '',
      caughtBy: 'the oldest of a device beyond its bytes',
    },
    {
      fault: 'deletes the newest of a device because it is large',
      find: 'device.letters > 1 && ',
      replace: '',
      caughtBy: 'not the newest of a device',
    },
    {
      fault: 'lets a device have as many as all',
      find: '    if (device.letters > limits.deviceLetters) return false;\n',
      replace: '',
      caughtBy: 'the oldest of a device beyond its number',
    },
    {
      fault: 'counts what a device has beyond its number among all',
      find: 'if (device.letters > limits.deviceLetters) return false;',
      replace: 'if (device.letters > limits.deviceLetters) return all.letters++ < 0;',
      caughtBy: 'none of the others for those that a device has beyond its number',
    },
    {
      fault: 'counts what a device has beyond its bytes among all',
      find: 'device.bytes > limits.deviceBytes) return false;',
      replace: 'device.bytes > limits.deviceBytes) return (all.bytes += bytes) < 0;',
      caughtBy: 'none of the others for those that a device has beyond its bytes',
    },
    {
      fault: 'keeps what is too old',
      find: '    if (now - at > limits.retentionMs) return false;\n',
      replace: '',
      caughtBy: 'every dead letter older than the retention',
    },
    {
      fault: 'takes the order of the hub for that of writing',
      find: 'b.at - a.at || ',
      replace: '',
      caughtBy: 'the oldest by the time of writing',
    },
    {
      fault: 'limits only the number of all',
      find: ' && all.bytes <= limits.maxBytes',
      replace: '',
      caughtBy: 'the oldest of all beyond their bytes',
    },
    {
      fault: 'limits only the bytes of all',
      find: 'all.letters <= limits.maxLetters && ',
      replace: '',
      caughtBy: 'the oldest of all beyond their number',
    },
  ),
  ...inFile('src/deadLetters/openDeadLetters.ts', ['test/deadLetters/settings.test.ts'], {
    fault: 'gives a device the bytes of all',
    find: '(maxBytes * letterCounts.deviceLetters) / letterCounts.maxLetters',
    replace: 'maxBytes * letterCounts.deviceLetters',
    caughtBy: 'Dead letters of one device have no more than a hundredth of DEAD_LETTERS_MAX_BYTES',
  }),
  ...inFile(
    'src/deadLetters/deadLetterStore.ts',
    ['test/deadLetters/interleavings.test.ts'],
    {
      fault: 'lists again for the bytes only',
      find: '      parked.letters > limits.maxLetters * lookEveryShare ||\n',
      replace: '',
      caughtBy: 'lists again after a tenth of the limit in dead letters, and makes room for those of other instances',
    },
    {
      fault: 'lists again for the number only',
      find: '||\n      parked.bytes > limits.maxBytes * lookEveryShare',
      replace: '',
      caughtBy: 'lists again after a tenth of the limit in bytes',
    },
    {
      fault: 'deletes what is being written',
      find: 'found.filter(({ id }) => !ours.has(id))',
      replace: 'found',
      caughtBy: 'never deletes a dead letter that is written during the listing',
    },
    {
      fault: 'lets a flood go on while the store is cleared',
      find: '      await room;\n',
      replace: '',
      caughtBy: 'waits 3 s for deletions that make room, then continues without them',
    },
    {
      fault: 'lists when three times as much has been parked',
      find: 'lookEveryShare = 0.1',
      replace: 'lookEveryShare = 0.3',
      caughtBy: 'by no more than a fifth',
    },
  ),
  ...inFile(
    'src/deadLetters/deadLetterStore.ts',
    ['test/deadLetters/takeover.test.ts'],
    {
      fault: 'takes an old listing for one of this session',
      find: 'knownSince >= silent',
      replace: 'knownSince > 0',
      caughtBy: 'has been taken over once more',
    },
    {
      fault: 'does not know what it has parked itself',
      find: '      known.add(id); // also if it fails: it may have been written nevertheless\n',
      replace: '',
      caughtBy: 'deletes its dead letter that this instance has parked since',
    },
    {
      fault: 'passes over a dead letter whose deletion may fail',
      find: ' && !turns.busy.has(id)',
      replace: '',
      caughtBy: 'that was beyond a limit and could not be deleted, while it is handled',
    },
    {
      fault: 'passes over a dead letter whose deletion failed',
      find: '    forget();\n    log',
      replace: '    log',
      caughtBy: 'that was beyond a limit and could not be deleted, before it is handled',
    },
    {
      fault: 'lists with each message while the store cannot be listed',
      find: 'lookedAt < silent || performance.now() - lookedAt > lookAgainMs',
      replace: 'lookedAt < silent || performance.now() - lookedAt >= 0',
      caughtBy: 'which is tried again once a minute',
    },
    {
      fault: 'asks the store for every message that may be a repeat',
      find: '      if (isKnownToBeAbsent(id)) return;\n',
      replace: '      isKnownToBeAbsent(id);\n',
      caughtBy: 'costs a deletion until former owners have been silent for 20 s, and nothing after one more listing',
    },
  ),
  ...inFile(
    'src/deadLetters/formerOwners.ts',
    ['test/deadLetters/takeover.test.ts'],
    {
      fault: 'takes a former owner for silent at once',
      find: 'parkingMs = 20_000',
      replace: 'parkingMs = 0',
      caughtBy: 'that a former owner wrote at the last moment',
    },
    {
      fault: 'takes a partition for silent where no session has begun',
      find: '      if (!partitions.has(partition)) return undefined;\n',
      replace: '',
      caughtBy: 'always costs a deletion without a session, as in a replay',
    },
  ),
  ...inFile('src/hub/reading/sessionOpener.ts', ['test/hub/sessions.test.ts'], {
    fault: 'does not tell that a session begins',
    find: '      options.sessionBegins?.(partition);\n',
    replace: '',
    caughtBy: 'Each session reports its start before it reads',
  }),
  ...inFile('src/operations/deadLetters/order.ts', ['test/operations/deadLetterCommands.test.ts'], {
    fault: 'shows what is newer without the next one',
    find: 'own.slice(index + 1)',
    replace: 'own.slice(index + 2)',
    caughtBy: 'a dry replay shows the order, the precedence of live messages, the running handling and its waits',
  }),
];
