import type { Fault } from './faults.ts';
import { inFile, only } from './inFile.ts';

/** Each takes the cure of a trap of the hub's client libraries away. */
export const trapFaults: readonly Fault[] = [
  ...inFile('src/hub/sdkCures.ts', only('serviceConnection', 'survives a drop'), {
    fault: 'trap 1: lets an error be its own cause',
    find: '  breakErrorCycles();\n',
    replace: '',
    caughtBy: 'survives a drop while a reply is open',
  }),
  ...inFile('src/hub/sdkCures.ts', only('consumer', 'never grants'), {
    fault: 'trap 8: grants credit on top of what is outstanding',
    find: '  boundPrefetch();\n',
    replace: '',
    caughtBy: 'never grants the hub more credit than the prefetch',
  }),
  ...inFile(
    'src/hub/replies/serviceConnection.ts',
    ['test/hub/hangs.test.ts'],
    {
      fault: 'trap 2: waits for the hub’s answer as long as it takes',
      find: 'await within(line.client.send(reply.deviceId, toMessage(reply)), answerWithinMs)',
      replace: 'await line.client.send(reply.deviceId, toMessage(reply))',
      caughtBy: 'a message ends although the hub’s answer never answers it',
    },
    {
      fault: 'trap 5: waits until the client has connected, as long as it takes',
      find: 'await within(line.opened, answerWithinMs);',
      replace: 'await line.opened;',
      caughtBy: 'a message ends although the connection never answers it',
    },
  ),
  ...inFile('src/hub/replies/serviceConnection.ts', only('serviceConnection', 'does not take'), {
    fault: 'trap 3: takes a send without a result for success',
    find: 'return answer.result ? undefined :',
    replace: 'return answer ? undefined :',
    caughtBy: 'does not take release for success',
  }),
  ...inFile('src/hub/replies/serviceConnection.ts', only('serviceConnection', 'gives up on a reply'), {
    fault: 'trap 3: stays on a connection that leaves replies unanswered',
    find: "        retire(line);\n        return { kind: 'later', reason: 'unanswered' };",
    replace: "        return { kind: 'later', reason: 'unanswered' };",
    caughtBy: 'gives up on a reply that is never settled',
  }),
  ...inFile('src/hub/replies/serviceConnection.ts', only('serviceConnection', 'attaches one link'), {
    fault: 'trap 4: sends many replies before there is a link',
    find: '      used.first = sending;\n',
    replace: '',
    caughtBy: 'attaches one link however many replies come first',
  }),
  ...inFile('src/hub/replies/serviceConnection.ts', only('serviceConnection', 'internal-error'), {
    fault: 'trap 6: lets the client try again by itself',
    find: 'client.setRetryPolicy(noRetry);',
    replace: 'void noRetry;',
    caughtBy: 'understands a rejection with amqp:internal-error',
  }),
  ...inFile('src/hub/replies/serviceConnection.ts', only('trapsOfReplying', 'trap 7'), {
    fault: 'trap 7: keeps a connection for ever',
    find: 'if (current && Date.now() < current.replaceAt) return current;',
    replace: 'if (current) return current;',
    caughtBy: 'leaves a connection before the life of its token ends',
  }),
  ...inFile('src/hub/replies/sender.ts', ['test/hub/sender.test.ts'], {
    fault: 'trap 3: has any number of replies open',
    find: 'atMost(maxInFlight)',
    replace: 'atMost(1e9 + maxInFlight)',
    caughtBy: 'has no more replies open than allowed',
  }),
  ...inFile(
    'src/hub/partition/partition.ts',
    ['test/hub/partition.test.ts'],
    {
      fault: 'trap 9: lets an event that cannot be looked at stop the partition',
      find: "      onTrouble(error, 'event passed over');\n      return undefined;",
      replace: '      throw error;',
      caughtBy: 'with one event does not stop the partition',
    },
    {
      fault: 'trap 9: lets a fault of its own stop a device',
      find: "        onTrouble(error, 'message given up');",
      replace: '        throw error;',
      caughtBy: 'with one message does not stop its device',
    },
    {
      fault: 'trap 10: writes checkpoints after ownership is lost',
      find: '    checkpoints.stop(true);\n',
      replace: '',
      caughtBy: 'writes no checkpoint after ownership is lost',
    },
  ),
  ...inFile('src/hub/partition/partition.ts', only('trapsOfReading', 'trap 17'), {
    fault: 'trap 17: handles again what a restarted partition gives again',
    find: '      if (seen && event.sequenceNumber <= seen.sequenceNumber) continue;\n',
    replace: '',
    caughtBy: 'goes on when the client has used up its retries',
  }),
  ...inFile('src/hub/reading/tenure.ts', only('trapsOfReading', 'trap 10'), {
    fault: 'trap 10: closes a subscription over running work',
    find: 'const [left] = await Promise.all([partition.drain(limitMs), reader.close()]);',
    replace: 'const [left] = await Promise.all([partition.drain(0), reader.close()]);',
    caughtBy: 'stops when what it has begun is done',
  }),
  ...inFile('src/hub/reading/eventLine.ts', only('trapsOfReading', 'trap 17'), {
    fault: 'trap 17: leaves a stopped partition to the client for ten seconds',
    find: 'loadBalancingOptions: { updateIntervalInMs: 1_000 },',
    replace: '',
    caughtBy: 'goes on when the client has used up its retries',
  }),
  ...inFile('src/hub/reading/eventLine.ts', only('trapsOfReading', 'trap 11'), {
    fault: 'trap 11: leaves the client its half minute between attempts',
    find: '      retryOptions: { retryDelayInMs: 500, maxRetryDelayInMs: 5_000 },\n',
    replace: '',
    caughtBy: 'goes on after the hub has been away',
  }),
  ...inFile('src/hub/reading/consumer.ts', only('trapsOfReading', 'replaces a client'), {
    fault: 'trap 11: has no watchdog',
    find: '    line.revive(tenures.all().filter(({ record }) => !tenures.isLeaving(record.partition)));\n',
    replace: '',
    caughtBy: 'replaces a client that waits for a hub which does not answer',
  }),
  ...inFile('src/hub/reading/reader.ts', only('trapsOfReading', 'trap 12'), {
    fault: 'trap 12: leaves the client its minute of waiting',
    find: '        maxWaitTimeInSeconds: options.maxWaitSeconds,\n',
    replace: '',
    caughtBy: 'goes on after a connection that broke while nothing came',
  }),
  ...inFile('src/hub/reading/outset.ts', only('consumer', 'starts at the earliest'), {
    fault: 'trap 14: starts at the latest event',
    find: "if (startPosition === 'earliest') {",
    replace: "if (startPosition !== 'earliest') {",
    caughtBy: 'starts at the earliest event when there is no checkpoint',
  }),
  ...inFile('src/hub/reading/outset.ts', ['test/hub/settingOut.test.ts', '-t', 'by all readers'], {
    fault: 'does not write down where the latest event was',
    find: '(await store.writeProgress(record, latest)) ? latest : undefined',
    replace: 'latest',
    caughtBy: 'is read from there by all readers to come',
  }),
  ...inFile('src/hub/reading/reader.ts', only('consumer', 'starts at the earliest'), {
    fault: 'trap 14: lets the client parse bodies',
    find: 'skipParsingBodyAsJson: true',
    replace: 'skipParsingBodyAsJson: false',
    caughtBy: 'leaves bodies as the bytes they are',
  }),
  ...inFile('src/dispatch.ts', ['test/hub/hangs.test.ts'], {
    fault: 'trap 13: waits for a dead-letter store that hangs',
    find: 'parkWithinMs);\n',
    replace: '1e9);\n',
    caughtBy: 'a message ends although the dead-letter store never answers it',
  }),
  ...inFile('src/backends/http.ts', ['test/backends/retries.test.ts'], {
    fault: 'trap 13: gives an attempt its usual time when the message has less',
    find: 'Math.min(attemptTimeoutMs, deadline.remaining())',
    replace: 'deadline.remaining() && attemptTimeoutMs',
    caughtBy: 'does not let an attempt outlast the message',
  }),
  ...inFile(
    'src/hub/stores/labelledBlobs.ts',
    only('stores', 'the blob store'),
    {
      fault: 'trap 15: changes a record whatever its state',
      find: ': { ifMatch: etag };',
      replace: ': {};',
      caughtBy: 'lets one of many that change a record at once have its way',
    },
    {
      fault: 'trap 15: claims a new partition though another has',
      find: "{ ifNoneMatch: '*' } :",
      replace: '{} :',
      caughtBy: 'lets one of many that claim a new partition at once have it',
    },
  ),
  ...inFile('src/hub/stores/blobRecords.ts', ['test/hub/blobStore.test.ts', '-t', 'without'], {
    fault: 'trap 15: stumbles over a blob without metadata',
    find: "owner: labels['ownerid'] ?? '',",
    replace: "owner: (labels['ownerid'] as string).trim(),",
    caughtBy: 'without labels break no others',
  }),
  ...inFile('src/hub/stores/blobStore.ts', ['test/hub/crashBlobStore.test.ts'], {
    fault: 'trap 15: leaves a late instance its way to the checkpoint',
    find: 'if (isTaken) await stamp({ partition, owner: next.owner, epoch }, by);',
    replace: 'void stamp;',
    caughtBy: 'before its first checkpoint, takes nothing back',
  }),
  ...inFile('src/settings/formats.ts', ['test/config.test.ts'], {
    fault: 'trap 16: sends the token in clear to another machine',
    find: "found.get('UseDevelopmentEmulator') !== 'true' ||",
    replace: 'true ||',
    caughtBy: 'do not let the hub’s token travel in clear',
  }),
];
