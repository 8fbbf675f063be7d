import type { Fault } from './faults.ts';
import { inFile } from './inFile.ts';

const dispatching = ['test/dispatch/traces.test.ts'];
const spans = ['test/tracing/spans.test.ts'];

/** In what records spans, and in the traces of messages and invocations. */
export const traceFaults: readonly Fault[] = [
  ...inFile('src/tracing/span.ts', dispatching, {
    fault: 'lets a device choose by its trace id what is recorded',
    find: '...root(), traceId, samplingKey, link',
    replace: '...root(), traceId, samplingKey: traceId, link',
    caughtBy: 'does not follow the trace that a device has chosen',
  }),
  ...inFile('src/observing/messageRecords.ts', dispatching, {
    fault: 'ends no span of a message that another instance handles',
    find: "          span?.end({}, { type: 'released' });\n",
    replace: '',
    caughtBy: 'ends also when the partition is lost',
  }),
  ...inFile('src/dispatch/dispatch.ts', dispatching, {
    fault: 'names spans as devices like',
    find: 'message.card?.name',
    replace: 'message.envelope.name',
    caughtBy: 'does not have the name of an unknown message',
  }),
  ...inFile('src/backends/sending.ts', dispatching, {
    fault: 'tells the backends nothing of the span of their call',
    find: '          traceparent: recorded.traceparent,\n',
    replace: '          traceparent: course.traceparent,\n',
    caughtBy: 'are one for its handling, and below it one for each backend call and each reply',
  }),
  ...inFile('src/backends/onceFor.ts', ['test/methods/traces.test.ts'], {
    fault: 'tells the information model nothing of the span of a caller’s look-up',
    find: 'traceparent: recorded.traceparent',
    replace: 'traceparent: course.traceparent',
    caughtBy: 'with a child for each call',
  }),
  ...inFile('src/observing/callRecords.ts', dispatching, {
    fault: 'counts the first attempt as a repeat',
    find: 'attempts > 1 ? attempts - 1 : undefined',
    replace: 'attempts > 1 ? attempts : undefined',
    caughtBy: 'has all its attempts',
  }),
  ...inFile(
    'src/tracing/recording.ts',
    spans,
    {
      fault: 'makes the span of a message a child of its device’s',
      find: 'tracer.startSpan(name, options, ROOT_CONTEXT)',
      replace:
        'tracer.startSpan(name, options, link ? trace.setSpanContext(ROOT_CONTEXT, { ...link, traceFlags: 0 }) : ROOT_CONTEXT)',
      caughtBy: 'is in the given trace, without a parent, with a link to its sender’s span',
    },
    {
      fault: 'keeps texts of any length',
      find: 'text.slice(0, longestText).toWellFormed()',
      replace: 'text.toWellFormed()',
      caughtBy: 'has at most 256 whole characters of each text',
    },
    {
      fault: 'cuts characters in half',
      find: '.slice(0, longestText).toWellFormed()',
      replace: '.slice(0, longestText)',
      caughtBy: 'has at most 256 whole characters of each text',
    },
  ),
  ...inFile('src/tracing/recording.ts', ['test/tracing/exportWatch.test.ts'], {
    fault: 'waits at a stop for a collector that hangs',
    find: 'within(provider.shutdown(), flushMs)',
    replace: 'within(provider.shutdown(), 1e9)',
    caughtBy: 'delays no message: spans beyond the queue are dropped and counted, and a stop ends',
  }),
  ...inFile('src/tracing/exportWatch.ts', ['test/tracing/exportWatch.test.ts'], {
    fault: 'drops spans in silence',
    find: 'if (queued < mostQueued) queued += 1;',
    replace: 'if (queued < 1e9) queued += 1;',
    caughtBy: 'spans beyond the queue are dropped and counted',
  }),
  ...inFile('src/metrics/signals.ts', ['test/tracing/traceSettings.test.ts'], {
    fault: 'sends spans to the collector of the metrics unasked',
    find: "if (signal === 'METRICS') addresses",
    replace: 'addresses',
    caughtBy: 'with the general address alone',
  }),
  ...inFile('src/tracing/span.ts', ['test/methods/traces.test.ts'], {
    fault: 'hands the sampling flag of callers on',
    find: 'span?.traceparent ?? newTraceparent(traceId)',
    replace: 'span?.traceparent ?? (link && sent) ?? newTraceparent(traceId)',
    caughtBy: 'whose span and sampling flag 00 go no further',
  }),
  ...inFile('src/hub/replies/sender.ts', ['test/hub/sender.test.ts'], {
    fault: 'tells of no attempt but the first',
    find: 'refusal = await attempt(reply, observer);\n      if',
    replace: 'refusal = await attempt(reply, undefined);\n      if',
    caughtBy: 'reports each attempt that the hub did not accept, and what the reply waits for',
  }),
];
