import type { Fault } from './faults.ts';
import { inFile } from './inFile.ts';

const metrics = ['test/edge/metrics.test.ts'];
const exposition = ['test/telemetry/exposition.test.ts'];
const everyMetric = ['test/metrics/everyMetric.test.ts'];
const numbers = 'each number is exported under its own name, with its own labels';

/** In what the edge proxy counts, and how it writes that. */
export const edgeMetricFaults: readonly Fault[] = [
  ...inFile('edge/src/modules/droppedReplies.ts', metrics, {
    fault: 'counts no dropped replies',
    find: '      countDropped(moduleId, reason);\n',
    replace: '',
    caughtBy: 'the metrics have the module that does not reply',
  }),
  ...inFile('edge/src/files/fileInputs.ts', metrics, {
    fault: 'takes failed downloads for successful ones',
    find: 'error.fault);',
    replace: "'');",
    caughtBy: 'the metrics have the downloads of files by their outcome',
  }),
  ...inFile('telemetry/src/exposition.ts', exposition, {
    fault: 'does not escape quotes in metrics',
    find: `.replaceAll('"', '\\\\"')`,
    replace: '',
    caughtBy: 'the exposition has help, type, labels and numbers of every kind of metric',
  }),
  ...inFile('edge/src/invocations/proxy.ts', everyMetric, {
    fault: 'tells the status of an invocation at the edge as its reason',
    find: 'String(response.status), reason);',
    replace: 'reason, String(response.status));',
    caughtBy: numbers,
  }),
  ...inFile('edge/src/modules/droppedReplies.ts', everyMetric, {
    fault: 'does not say of which module a reply was dropped',
    find: 'countDropped(moduleId, reason);',
    replace: "countDropped('', reason);",
    caughtBy: numbers,
  }),
  ...inFile('telemetry/src/exposition.ts', everyMetric, {
    fault: 'gives a value of a label to the one before it',
    find: "values[index] ?? ''",
    replace: "values[index + 1] ?? ''",
    caughtBy: numbers,
  }),
];
