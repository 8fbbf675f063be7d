import type { Fault } from './faults.ts';
import { inFile } from './inFile.ts';

/** Each removes the workaround for a trap of the hub's client libraries. */
export const workaroundFaults: readonly Fault[] = [
  ...inFile('src/hub/sdkCures.ts', ['test/hub/workaroundsOfReplying.test.ts'], {
    fault: 'trap 1: lets an error be its own cause',
    find: '  breakErrorCycles();\n',
    replace: '',
    caughtBy: 'an error that is translated is not its own cause:',
  }),
  ...inFile('src/hub/sdkCures.ts', ['test/hub/wrongServiceSettings.test.ts'], {
    fault: 'lets the service client forget the error of the socket',
    find: '  keepSocketErrors();\n',
    replace: '',
    caughtBy: 'a host that is not there',
  }),
  ...inFile(
    'src/hub/sdkCures.ts',
    ['test/hub/standardError.test.ts'],
    {
      fault: 'lets the AMQP library of replies warn of a connection that its client has let go',
      find: 'of [ConnectionOfReading, ConnectionOfReplies]) {\n    const { dispatch }',
      replace: 'of [ConnectionOfReading]) {\n    const { dispatch }',
      caughtBy: 'prints no warning about the end of a connection without listeners',
    },
    {
      fault: 'lets the AMQP library of events warn of a connection that its client has let go',
      find: 'of [ConnectionOfReading, ConnectionOfReplies]) {\n    const { dispatch }',
      replace: 'of [ConnectionOfReplies]) {\n    const { dispatch }',
      caughtBy: 'prints no warning about the end of a connection without listeners',
    },
    {
      fault: 'lets the AMQP library print frames that it does not understand',
      find: ", 'protocol_error']",
      replace: ']',
      caughtBy: 'does not print the end of an unknown session',
    },
    {
      fault: 'lets the AMQP library warn of an end of a link that it does not know',
      find: 'return termini.has(String(end?.descriptor?.value)) ? unwrap(end) : null;',
      replace: 'return unwrap(end);',
      caughtBy: 'ignores an unknown end of a link without a warning',
    },
  ),
  ...inFile('src/text/absence.ts', ['test/hub/wrongServiceSettings.test.ts'], {
    fault: 'takes a certificate that is not trusted for no answer',
    find: "UNABLE_TO_VERIFY_LEAF_SIGNATURE: 'untrusted'",
    replace: "UNABLE_TO_VERIFY_LEAF_SIGNATURE: 'nobody'",
    caughtBy: 'a certificate that is not trusted',
  }),
  ...inFile('src/hub/sdkCures.ts', ['test/hub/consumer.test.ts'], {
    fault: 'trap 8: grants credit on top of what is outstanding',
    find: '  boundPrefetch();\n',
    replace: '',
    caughtBy: 'never grants the hub more credit than the prefetch',
  }),
  ...inFile('src/hub/reading/receiveCycle.ts', ['test/hub/receiveCycle.test.ts'], {
    fault: 'trap 20: counts events as taken before it knows how many there are',
    find: `const events = await receive(most, Math.max(waitSeconds, idleSeconds), signal);
    queued -= events.length;`,
    replace: `queued -= most;
    const events = await receive(most, Math.max(waitSeconds, idleSeconds), signal);`,
    caughtBy: 'an event is delivered when it comes, even if events come without a pause',
  }),
  ...inFile('src/hub/sdkCures.ts', ['test/hub/workaroundsOfReading.test.ts'], {
    fault: 'trap 18: opens a connection again with the links of the one that the hub closed',
    find: '  mendConnections();\n',
    replace: '',
    caughtBy: 'a connection that the hub closes with its links attached is told that it is lost:',
  }),
  ...inFile('src/hub/sdkCures.ts', ['test/hub/workaroundsOfReading.test.ts'], {
    fault: 'lets a link of events have an address that the library has forgotten',
    find: '  forgetAddresses();\n',
    replace: '',
    caughtBy: 'a link has no address after its connection was lost',
  }),
  ...inFile('src/hub/sdkCures.ts', ['test/hub/workaroundsOfReading.test.ts'], {
    fault: 'leaves an error of a connection of events without a listener',
    find: '      this.on(ConnectionEvents.error, () => undefined);\n',
    replace: '',
    caughtBy: 'a connection without listeners tolerates an error',
  }),
  ...inFile('src/hub/sdkCures.ts', ['test/hub/workaroundsOfReading.test.ts'], {
    fault: 'lets the operating system hold frames back',
    find: '      inner.options.tcp_no_delay = true;\n',
    replace: '',
    caughtBy: 'sends each frame at once',
  }),
  ...inFile('src/hub/sdkCures.ts', ['test/hub/boundedDecoding.test.ts'], {
    fault: 'trap 19: gives the library of events whatever bytes come',
    find: '  boundDecoding({ message: messageOfReading, frames: framesOfReading });\n',
    replace: '',
    caughtBy: 'a value of 33 nested lists',
  }),
  ...inFile(
    'src/hub/decodable.ts',
    ['test/hub/decodable.test.ts'],
    {
      fault: 'lets any number of elements come that take no bytes',
      find: '    if (walk.empty < 0) return refused;\n',
      replace: '',
      caughtBy: 'such elements in many arrays',
    },
    {
      fault: 'counts no levels',
      find: 'if (levels === 0 || items > end)',
      replace: 'if (items > end)',
      caughtBy: '33 levels',
    },
    {
      fault: 'counts no values',
      find: 'isKnown[code] === 0 || walk.values < 0',
      replace: 'isKnown[code] === 0',
      caughtBy: 'one value too many',
    },
    {
      fault: 'takes two values for a body',
      find: '(kind === kindOfBody && kind !== anyValue)',
      replace: 'kind === kindOfBody',
      caughtBy: 'two values',
    },
  ),
  ...inFile('src/hub/sdkCures.ts', ['test/hub/workaroundsOfReplying.test.ts'], {
    fault: 'trap 2: lets sends wait until the client has closed its connection',
    find: '  failSendsOfClosedConnections();\n',
    replace: '',
    caughtBy: 'continues at once when the hub has closed the connection during a reply, with its links',
  }),
  ...inFile('src/hub/sdkCures.ts', ['test/hub/workaroundsOfReplying.test.ts'], {
    fault: 'tells a link of replies that the hub has not answered of no error',
    find: '  failUnansweredLinks();\n',
    replace: '',
    caughtBy: 'a link that the hub has not answered is told of an error when it ends, and one that expects none is not',
  }),
  ...inFile('src/hub/replies/serviceClient.ts', ['test/hub/hangs.test.ts'], {
    fault: 'trap 5: waits until the client has connected, as long as it takes',
    find: 'await within(opened, answerWithinMs);',
    replace: 'await opened;',
    caughtBy:
      'a message ends although the connection never answers, and its device and its partition continue (trap 13)',
  }),
  ...inFile('src/hub/replies/handOver.ts', ['test/hub/serviceConnection.test.ts'], {
    fault: 'trap 3: takes a send without a result for success',
    find: 'Boolean(result)',
    replace: 'result !== null',
    caughtBy: 'does not count release as success',
  }),
  ...inFile('src/hub/replies/serviceClient.ts', ['test/hub/serviceConnection.test.ts'], {
    fault: 'trap 3: stays on a connection that leaves replies unanswered',
    find: '      onEnd();\n      pendingSends.expire();',
    replace: '      pendingSends.expire();',
    caughtBy: 'replaces a connection on which no reply is settled any more, and does not wait for its open replies',
  }),
  ...inFile('src/hub/replies/serviceClient.ts', ['test/hub/serviceConnection.test.ts'], {
    fault: 'trap 3: stays on a link that one lost answer stops',
    find: ' || pendingSends.span() >= longestSpan',
    replace: '',
    caughtBy: 'replaces a connection before a lost answer blocks it (trap 3)',
  }),
  ...inFile('src/hub/replies/pendingSends.ts', ['test/hub/serviceConnection.test.ts'], {
    fault: 'trap 3: waits for a lost answer as long as it takes',
    find: 'if (pending.looks > looksInTime) pending.expire();',
    replace: '',
    caughtBy: 'fails only the reply that is never settled: others continue over the same connection (C4)',
  }),
  ...inFile('src/hub/replies/serviceClient.ts', ['test/hub/serviceConnection.test.ts'], {
    fault: 'trap 4: sends many replies before there is a link',
    find: '      attached ??= within(sent, linkWithinMs).catch(() => undefined);\n',
    replace: '',
    caughtBy: 'attaches one link however many replies come at first',
  }),
  ...inFile('src/hub/replies/serviceClient.ts', ['test/hub/serviceConnection.test.ts'], {
    fault: 'trap 6: lets the client try again by itself',
    find: 'client.setRetryPolicy(noRetry);',
    replace: 'void noRetry;',
    caughtBy: 'recognises a rejection with amqp:internal-error, of the first reply and of a later one',
  }),
  ...inFile('src/hub/replies/serviceClient.ts', ['test/hub/workaroundsOfReplying.test.ts'], {
    fault: 'trap 7: keeps a connection for ever',
    find: 'performance.now() >= wornAt || ',
    replace: '',
    caughtBy: 'replaces a connection before its token expires, since that may not be renewed (trap 7)',
  }),
  ...inFile('src/hub/replies/sendQueue.ts', ['test/hub/sender.test.ts'], {
    fault: 'trap 3: has any number of replies open',
    find: 'inFlight >= maxInFlight',
    replace: 'inFlight >= 1e9 + maxInFlight',
    caughtBy: 'has no more replies open than allowed',
  }),
  ...inFile(
    'src/engine/partition/partition.ts',
    ['test/engine/ownFaults.test.ts', 'test/engine/partitionEnd.test.ts'],
    {
      fault: 'trap 9: lets an event that cannot be looked at stop the partition',
      find: "      onTrouble(error, 'event passed over');\n      return undefined;",
      replace: '      throw error;',
      caughtBy: 'with one event does not stop the partition',
    },
    {
      fault: 'trap 10: writes checkpoints after ownership is lost',
      find: '    checkpoints.stop(true);\n',
      replace: '',
      caughtBy: 'writes no checkpoint after ownership is lost',
    },
  ),
  ...inFile('src/engine/partition/work.ts', ['test/engine/ownFaults.test.ts'], {
    fault: 'trap 9: lets a fault of its own stop a device',
    find: "      onTrouble(error, 'message given up');\n      return true;",
    replace: '      throw error;',
    caughtBy: 'with one message does not stop its device',
  }),
  ...inFile('src/engine/partition/partition.ts', ['test/hub/workaroundsOfReading.test.ts'], {
    fault: 'trap 17: handles again what a restarted partition gives again',
    find: '      if (!isNew(event)) continue;\n',
    replace: '',
    caughtBy: 'continues when the client has used up its retries (trap 17)',
  }),
  ...inFile('src/hub/reading/session.ts', ['test/hub/workaroundsOfReading.test.ts'], {
    fault: 'trap 10: closes a subscription over running work',
    find: 'const [unfinished] = await Promise.all([partition.drain(limitMs), reader.close()]);',
    replace: 'const [unfinished] = await Promise.all([partition.drain(0), reader.close()]);',
    caughtBy:
      'stops when the messages in progress are done, although closing a subscription waits for nothing (trap 10)',
  }),
  ...inFile('src/hub/reading/eventHubConnection.ts', ['test/hub/workaroundsOfReading.test.ts'], {
    fault: 'trap 17: leaves a stopped partition to the client for ten seconds',
    find: 'loadBalancingOptions: { updateIntervalInMs: 1_000 },',
    replace: '',
    caughtBy: 'continues when the client has used up its retries (trap 17)',
  }),
  ...inFile('src/hub/reading/eventHubConnection.ts', ['test/hub/workaroundsOfReading.test.ts'], {
    fault: 'trap 11: leaves the client its half minute between attempts',
    find: '      retryOptions: { retryDelayInMs: 500, maxRetryDelayInMs: 5_000 },\n',
    replace: '',
    caughtBy: 'continues after the hub was down (trap 11)',
  }),
  ...inFile('src/hub/reading/hubWatch.ts', ['test/hub/workaroundsOfReading.test.ts'], {
    fault: 'trap 11: has no watchdog',
    find: '      connection.revive(sessions.reading());\n',
    replace: '',
    caughtBy: 'replaces a client that waits for a hub that does not answer, and continues at its position',
  }),
  ...inFile('src/hub/reading/reader.ts', ['test/hub/workaroundsOfReading.test.ts'], {
    fault: 'trap 12: leaves the client its minute of waiting',
    find: '        maxWaitTimeInSeconds: options.maxWaitSeconds,\n',
    replace: '',
    caughtBy: 'continues after a connection broke while no event came (trap 12)',
  }),
  ...inFile('src/hub/reading/hubWatch.ts', ['test/hub/workaroundsOfReading.test.ts'], {
    fault: 'believes in a connection on which nothing comes',
    find: '      void stallWatch.look(sessions.reading());\n',
    replace: '',
    caughtBy: 'reconnects when a connection is silent without an error for',
  }),
  ...inFile('src/hub/reading/startPosition.ts', ['test/hub/consumer.test.ts'], {
    fault: 'trap 14: starts at the latest event',
    find: "if (startPosition === 'earliest') return earliest;",
    replace: "if (startPosition !== 'earliest') return earliest;",
    caughtBy: 'starts at the earliest event when there is no checkpoint',
  }),
  ...inFile('src/hub/reading/startPosition.ts', ['test/hub/startPosition.test.ts'], {
    fault: 'does not write down where the latest event was',
    find: '(await store.writeProgress(record, latest)) ? latest : undefined',
    replace: 'latest',
    caughtBy: 'is read from there by all later readers: no event between two of them is lost',
  }),
  ...inFile('src/hub/reading/foreignCheckpoint.ts', ['test/hub/startPosition.test.ts'], {
    fault: 'calls a checkpoint foreign at the first look',
    find: 'if (seen.readings < foreignAfterReadings || now - seen.since < foreignAfterMs) throw',
    replace: 'if (seen.readings < 1) throw',
    caughtBy: 'is read as soon as the hub has caught up, without an alarm',
  }),
  ...inFile('src/hub/reading/startPosition.ts', ['test/hub/startPosition.test.ts'], {
    fault: 'begins a partition anew whose checkpoint has another name',
    find: '  await refuseStrays(record.partition, options);\n',
    replace: '',
    caughtBy: 'because there is a checkpoint under an unknown partition name, is not read from the start',
  }),
  ...inFile('src/hub/stores/storedProgress.ts', ['test/hub/unreadableCheckpoints.test.ts'], {
    fault: 'reads from a position before the first',
    find: 'Number(value) >= -1',
    replace: 'Number(value) >= -9',
    caughtBy: 'refuses sequenceNumber = -2 by name',
  }),
  ...inFile('src/hub/stores/blobRecords.ts', ['test/hub/unreadableCheckpoints.test.ts'], {
    fault: 'goes on from the checkpoint of another partition',
    find: 'if (of !== blob.name) throw',
    replace: "if (of === '') throw",
    caughtBy: 'with the checkpoint of another partition is refused by name',
  }),
  ...inFile('src/storage/boundedReads.ts', ['test/hub/unreadableCheckpoints.test.ts'], {
    fault: 'reads a file of any size',
    find: 'if (found.size > mostBytes)',
    replace: 'if (found.size < 0)',
    caughtBy: 'is not read when it has 1 GB, and does not block when it is not a file',
  }),
  ...inFile('src/hub/reading/startPosition.ts', ['test/hub/startPosition.test.ts'], {
    fault: 'takes a latest event without an offset',
    find: 'if (offset === null) throw',
    replace: 'if (sequenceNumber < -1) throw',
    caughtBy: 'because the hub does not report its latest event, is read from there as soon as it does',
  }),
  ...inFile('src/hub/reading/sessions.ts', ['test/hub/startPosition.test.ts'], {
    fault: 'stays at a position that the hub refuses',
    find: "if (diagnosis.refusesPosition) revoke(partition, 'refused');",
    replace: '',
    caughtBy:
      'because the hub has no event at the offset of its checkpoint, raises an alarm until the checkpoint is removed',
  }),
  ...inFile('src/hub/reading/share.ts', ['test/hub/startPosition.test.ts'], {
    fault: 'asks for a restart because of a checkpoint that is not of this hub',
    find: ' && !isRefused(partition)',
    replace: '',
    caughtBy:
      'because its checkpoint is of an older hub, raises an alarm, makes the service not ready without a restart, and the others are read',
  }),
  ...inFile('src/hub/reading/consumer.ts', ['test/hub/wrongSettings.test.ts'], {
    fault: 'is ready before the hub has agreed',
    find: 'if (reader === undefined || !reader.isHeard()) return false;',
    replace: 'if (reader === undefined) return false;',
    caughtBy: 'the service is ready only when the hub has accepted every partition',
  }),
  ...inFile('src/hub/reading/readingDiagnosis.ts', ['test/hub/wrongSettings.test.ts'], {
    fault: 'looks at the outside of an error that says nothing',
    find: 'if (error instanceof AggregateError && error.errors.length > 0) return',
    replace: 'if (error instanceof AggregateError && error.errors.length > 99) return',
    caughtBy:
      'a wrong key is logged in one line with the setting, the hub’s answer and the remedy; a refusal asks for no restart',
  }),
  ...inFile('src/hub/reading/readingTroubles.ts', ['test/hub/wrongSettings.test.ts'], {
    fault: 'tells a cause once for each partition',
    find: '      troubles.raise(sourceOf(diagnosis), {',
    replace: '      troubles.raise(place + sourceOf(diagnosis), {',
    caughtBy:
      'a consumer group that is not there is logged in one line with the setting, the hub’s answer and the remedy; a refusal asks for no restart',
  }),
  ...inFile('src/hub/reading/reader.ts', ['test/hub/consumer.test.ts'], {
    fault: 'trap 14: lets the client parse bodies',
    find: 'skipParsingBodyAsJson: true',
    replace: 'skipParsingBodyAsJson: false',
    caughtBy: 'leaves bodies as the bytes they are',
  }),
  ...inFile('src/deadLetters/parking.ts', ['test/hub/hangs.test.ts'], {
    fault: 'trap 13: waits for a dead-letter store that hangs',
    find: '}), parkWithinMs);\n',
    replace: '}), 1e9);\n',
    caughtBy:
      'a message ends although the dead-letter store never answers, and its device and its partition continue (trap 13)',
  }),
  ...inFile('src/backends/sending.ts', ['test/backends/retryPolicy.test.ts'], {
    fault: 'trap 13: gives an attempt its usual time when the message has less',
    find: 'Math.min(attemptTimeoutMs, deadline.remaining())',
    replace: 'deadline.remaining() && attemptTimeoutMs',
    caughtBy: 'does not extend an attempt beyond the deadline of the message',
  }),
  ...inFile(
    'src/hub/stores/labelledBlobs.ts',
    ['test/hub/stores.test.ts'],
    {
      fault: 'trap 15: changes a record whatever its state',
      find: ': { ifMatch: etag };',
      replace: ': {};',
      caughtBy: 'accepts one of many concurrent changes of a record',
    },
    {
      fault: 'trap 15: claims a new partition though another has',
      find: "{ ifNoneMatch: '*' } :",
      replace: '{} :',
      caughtBy: 'gives a new partition to one of many that claim it at once',
    },
  ),
  ...inFile('src/hub/stores/blobRecords.ts', ['test/hub/blobStore.test.ts'], {
    fault: 'trap 15: stumbles over a blob without metadata',
    find: "owner: labels['ownerid'] ?? '',",
    replace: "owner: (labels['ownerid'] as string).trim(),",
    caughtBy: 'without labels do not affect others, and their partitions can be claimed',
  }),
  ...inFile('src/hub/stores/blobStore.ts', ['test/hub/crashBlobStore.test.ts'], {
    fault: 'trap 15: leaves a late instance its way to the checkpoint',
    find: 'if (isTaken) await stamp({ partition, owner: next.owner, epoch }, by);',
    replace: 'void stamp;',
    caughtBy: 'a request that arrives after a takeover, before the first checkpoint of the new owner, has no effect',
  }),
  ...inFile('src/settings/formats.ts', ['test/settings/config.test.ts'], {
    fault: 'trap 16: sends the token in clear to another machine',
    find: "found.get('UseDevelopmentEmulator') !== 'true' ||",
    replace: 'true ||',
    caughtBy: 'do not allow sending the hub’s token in clear to another machine',
  }),
];
