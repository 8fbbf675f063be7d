import type { Fault } from './faults.ts';
import { inFile } from './inFile.ts';

const metrics = ['test/methods/metrics.test.ts'];
const fields = ['test/methods/everyField.test.ts'];
const table = ['test/metrics/everyMetric.test.ts'];

/** In what the front door of remote methods counts. */
export const methodMetricFaults: readonly Fault[] = [
  ...inFile('src/backends/onceFor.ts', metrics, {
    fault: 'does not record reads of objects',
    find: '        recorded.attempted(response, response instanceof TransportFailure || isPassing(response.status));\n',
    replace: '',
    caughtBy: 'the metrics have the reads of objects with the tokens of callers, by their outcome',
  }),
  ...inFile('src/backends/bulkhead.ts', metrics, {
    fault: 'reports no connection for callers in use',
    find: 'inUse: all.inUse(), waiting',
    replace: 'inUse: 0, waiting',
    caughtBy: 'the metrics have the connections, the circuits and the cache of the backends',
  }),
  ...inFile('src/observing/invocationRecords.ts', metrics, {
    fault: 'takes the status of the device for that of the hub',
    find: "recordCall(ms / 1000, '200', '')",
    replace: "recordCall(ms / 1000, String(end.status), '')",
    caughtBy: 'the metrics have the calls to the hub, by their outcome',
  }),
  ...inFile('src/observing/invocationFields.ts', metrics, {
    fault: 'counts no reason of failed invocations',
    find: "failure?.reason ?? (status === undefined ? 'caller_gone' : undefined)",
    replace: "status === undefined ? 'caller_gone' : undefined",
    caughtBy: 'the metrics have the invocations by status and reason, and those in progress',
  }),
  ...inFile('src/observing/invocationRecords.ts', fields, {
    fault: 'logs the status of the hub as that of the method',
    find: 'fields.hubStatus = status;',
    replace: 'fields.methodStatus = status;',
    caughtBy: 'a call that the hub refuses is logged with its status and code',
  }),
  ...inFile('src/methods/requestHandler.ts', fields, {
    fault: 'logs the target as the device',
    find: 'fields.target = shortened(',
    replace: 'fields.device = shortened(',
    caughtBy: 'an invocation is logged with the status of the method, the total time and that of the hub',
  }),
  ...inFile('src/observing/invocationRecords.ts', table, {
    fault: 'records an answer of the device with the time of nothing',
    find: "recordCall(ms / 1000, '200', '');",
    replace: "recordCall(0, '200', '');",
    caughtBy: 'each number is exported under its own name, with its own labels',
  }),
];
