import type { Fault } from './faults.ts';
import { inFile } from './inFile.ts';

const metrics = ['test/edge/metrics.test.ts'];
const exposition = ['test/edge/exposition.test.ts'];

/** In what the edge proxy counts, and how it writes that. */
export const edgeMetricFaults: readonly Fault[] = [
  ...inFile(
    'edge/src/invocations/proxy.ts',
    metrics,
    {
      fault: 'counts each invocation at the edge as successful',
      find: "response.status === 200 ? '' : response.reason",
      replace: "''",
      caughtBy: 'has the invocations by module, status and reason, and those in progress',
    },
    {
      fault: 'does not say which module an invocation was for',
      find: "fields.module ?? ''",
      replace: "''",
      caughtBy: 'has the invocations by module, status and reason, and those in progress',
    },
  ),
  ...inFile('edge/src/modules/droppedReplies.ts', metrics, {
    fault: 'counts no dropped replies',
    find: '      countDropped(moduleId, reason);\n',
    replace: '',
    caughtBy: 'has the module that does not reply',
  }),
  ...inFile('edge/src/files/fileInputs.ts', metrics, {
    fault: 'takes failed downloads for successful ones',
    find: 'error.fault);',
    replace: "'');",
    caughtBy: 'has the downloads of files by their outcome',
  }),
  ...inFile(
    'edge/src/connections/reconnecting.ts',
    metrics,
    {
      fault: 'does not count connections that cannot be opened',
      find: "if (!signal.aborted) countAttempt(peer, 'failed');",
      replace: '',
      caughtBy: 'has the connections to the hub and to the broker',
    },
    {
      fault: 'takes the broker for the hub in the metrics',
      find: "name === 'the hub' ? 'hub' : 'broker'",
      replace: "'hub'",
      caughtBy: 'has the connections to the hub and to the broker',
    },
  ),
  ...inFile(
    'edge/src/metrics/exposition.ts',
    exposition,
    {
      fault: 'writes buckets that are not cumulative',
      find: 'count += one.buckets[index] ?? 0;',
      replace: 'count = one.buckets[index] ?? 0;',
      caughtBy: 'writes metrics as the library of the service does',
    },
    {
      fault: 'does not escape quotes in metrics',
      find: `.replaceAll('"', '\\\\"')`,
      replace: '',
      caughtBy: 'writes metrics as the library of the service does',
    },
    {
      fault: 'serves no metric when one cannot be read',
      find: 'return [];\n  }\n}',
      replace: "throw new Error('a metric cannot be read');\n  }\n}",
      caughtBy: 'that cannot be read leaves out only itself',
    },
  ),
];
