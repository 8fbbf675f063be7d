import type { Fault } from './faults.ts';
import { inFile } from './inFile.ts';

const counted = ['test/dispatch/handledMetrics.test.ts'];
const reading = ['test/hub/readingMetrics.test.ts'];
const every = ['test/metrics/everyMetric.test.ts'];
const collected = ['test/metrics/otlp.test.ts'];

/** In what is counted, and in how it is reported. */
export const metricFaults: readonly Fault[] = [
  ...inFile(
    'src/observing/storeRecords.ts',
    ['test/metrics/everyMetric.test.ts'],
    {
      fault: 'takes what a store has answered for under way',
      find: '        count(store, -1);\n',
      replace: '',
      caughtBy: 'each number is exported under its own name, with its own labels',
    },
    {
      fault: 'takes a refusal of a store for success',
      find: "fault ?? ''",
      replace: "fault ? '' : ''",
      caughtBy: 'each number is exported under its own name, with its own labels',
    },
  ),
  ...inFile('src/dispatch/dispatch.ts', counted, {
    fault: 'takes the name of the message from the device',
    find: 'message.card?.name',
    replace: 'message.envelope.name',
    caughtBy: 'names that devices make up create no series: the metrics have no value that a device sends',
  }),
  ...inFile(
    'src/observing/messageRecords.ts',
    counted,
    {
      fault: 'counts every message as handled well',
      find: "const code = failure?.code ?? 'ok';",
      replace: "const code = failure === null ? 'validation_error' : 'ok';",
      caughtBy: 'a failure is counted by its code',
    },
    {
      fault: 'takes the wait in the hub for that in the lane',
      find: "recordWait(waits.laneMs / 1000, 'lane');",
      replace: "recordWait(waits.laneMs / 1000, 'hub');",
      caughtBy: 'with its requests, its waits and its replies',
    },
    {
      fault: 'does not count replies that are dropped',
      find: 'for (const { reason } of dropped) countReply(reason);',
      replace: '',
      caughtBy: 'is dropped is counted by its reason',
    },
  ),
  ...inFile('src/deadLetters/parking.ts', counted, {
    fault: 'does not count what cannot be parked',
    find: "count('not_parked');",
    replace: '',
    caughtBy: 'cannot be parked is counted as a dead letter',
  }),
  ...inFile('src/observing/callRecords.ts', counted, {
    fault: 'records no attempts',
    find: 'measure(operation, method, end, ms);',
    replace: '',
    caughtBy: 'an attempt without a response is recorded with its reason',
  }),
  ...inFile('src/hub/replies/sender.ts', ['test/hub/replyMetrics.test.ts'], {
    fault: 'counts the time to connect as time of the hub',
    find: 'recordSend((now() - began) / 1000,',
    replace: 'recordSend((now() - began) / 1000 + 5,',
    caughtBy: 'each attempt to send a reply is recorded',
  }),
  ...inFile('src/hub/reading/sessionOpener.ts', reading, {
    fault: 'does not count failed checkpoints',
    find: "countCheckpoint('failed');",
    replace: '',
    caughtBy: 'a checkpoint that cannot be written is counted as failed',
  }),
  ...inFile('src/hub/reading/sessionLife.ts', reading, {
    fault: 'counts a lost session twice',
    find: "if (state !== 'revoked') ended(reason);",
    replace: 'ended(reason);',
    caughtBy: 'a partition that another instance owns is counted as lost, also when it is draining',
  }),
  ...inFile('src/engine/partition/partition.ts', reading, {
    fault: 'reports passed over events as read messages',
    find: 'if (arrival) {\n        options.onRead?.();',
    replace: 'options.onRead?.();\n      if (arrival) {',
    caughtBy: 'reported as read once',
  }),
  ...inFile('src/metrics/producer.ts', collected, {
    fault: 'reports nothing when one metric cannot be read',
    find: 'errors.push(error); // the other metrics are reported all the same',
    replace: 'throw error;',
    caughtBy: 'the other metrics are sent when one cannot be read',
  }),
  ...inFile('src/operations/gauges.ts', every, {
    fault: 'takes replies that are sent for replies that wait',
    find: "[waiting, 'waiting'],\n      [inFlight, 'sent'],",
    replace: "[waiting, 'sent'],\n      [inFlight, 'waiting'],",
    caughtBy: 'each number is exported under its own name, with its own labels',
  }),
  ...inFile('src/metrics/summary.ts', ['test/metrics/summary.test.ts'], {
    fault: 'leaves a count out of the last line',
    find: "skipped: total('messaging.client.consumed.messages', 'skipped'),",
    replace: '',
    caughtBy: 'the last line of the log has each count under its own name',
  }),
  ...inFile(
    'src/observing/messageFields.ts',
    ['test/dispatch/everyField.test.ts'],
    {
      fault: 'writes the wait in the lane as that in the hub',
      find: 'hubWaitMs: waits?.hubMs,\n    laneWaitMs: waits && Math.round(waits.laneMs),',
      replace: 'hubWaitMs: waits && Math.round(waits.laneMs),\n    laneWaitMs: waits?.hubMs,',
      caughtBy: 'is one line of the log, after a success',
    },
    {
      fault: 'writes the number of replies as that of dropped ones',
      find: 'droppedReplies: dropped.length })',
      replace: 'droppedReplies: sent })',
      caughtBy: 'is one line of the log, after a failure and with a dropped reply',
    },
  ),
  ...inFile('src/observing/messageFields.ts', ['test/dispatch/everyField.test.ts'], {
    fault: 'tells followers the time of the replies as that of the handling',
    find: 'ms: Math.round(ms),\n  repliesMs: Math.round(repliesMs),',
    replace: 'ms: Math.round(repliesMs),\n  repliesMs: Math.round(ms),',
    caughtBy: 'is shown to the taps on the device',
  }),
  ...inFile('src/dispatch/recognition.ts', every, {
    fault: 'counts an event that cannot be decoded as one without a sender',
    find: "count('undecodable');",
    replace: "count('unattributed');",
    caughtBy: 'each number is exported under its own name, with its own labels',
  }),
  ...inFile('src/backends/backends.ts', every, {
    fault: 'counts the look-ups of identities as those of types',
    find: "countLookUp('identities', result)",
    replace: "countLookUp('types', result)",
    caughtBy: 'each number is exported under its own name, with its own labels',
  }),
  ...inFile('src/metrics/declared/messageMetrics.ts', every, {
    fault: 'swaps two attributes of a metric',
    find: '    message,\n    generation,\n    fault,',
    replace: '    generation as never,\n    message as never,\n    fault,',
    caughtBy: 'each number is exported under its own name, with its own labels',
  }),
  ...inFile('src/metrics/declared/readingMetrics.ts', every, {
    fault: 'declares a value that nothing records',
    find: "['retention', 'unknown'])",
    replace: "['retention', 'unknown', 'deleted'])",
    caughtBy: 'each metric has a row, and each value of its labels',
  }),
  ...inFile('src/metrics/otlp.ts', ['test/metrics/otlp.test.ts'], {
    fault: 'is silent about a collector that refuses',
    find: 'if (result.error) failed(result.error);',
    replace: 'if (result.error) done(result);',
    caughtBy: 'the refusals of a collector are logged once, and their end; the log has no header',
  }),
];
