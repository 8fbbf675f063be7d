import {
  closed,
  counter,
  createMeter as createMeterOf,
  gauge,
  histogram,
  type Meter as MeterOf,
  type MeterWithReadings,
  open,
  updowncounter,
} from '@device-messaging/telemetry/meter.ts';
import { processMetrics } from '@device-messaging/telemetry/process.ts';

const module = open('device_messaging.module', 'the module, as in the configuration; absent when none was found');
const peer = closed('device_messaging.peer', 'the hub, or the broker of the device', ['hub', 'broker']);

/** Upper bounds in seconds; invocations last 300 s at most. */
const buckets = [0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10, 30, 60, 300];

/** Why an invocation failed, as in the log. */
const reasons = [
  'invalid_invocation',
  'takes_no_files',
  'no_module',
  'other_object',
  'file_not_downloaded',
  'bad_reply',
  'internal_error',
  'overloaded',
  'stopping',
  'broker_unavailable',
  'folder_unavailable',
  'too_late',
  'no_reply',
  'aborted',
] as const;

/** Invocations of remote methods at the edge proxy. */
export const edgeMetrics = {
  'rpc.server.call.duration': histogram(buckets, { 'rpc.system.name': 'iothub', 'rpc.method': 'invokeMethod' })(
    'Duration of an invocation, from its arrival from the hub until the response',
    'Which module is slow, or fails. `no_reply`: the module is stopped, or too slow. Alert when `broker_unavailable` or `folder_unavailable` increases.',
    [
      module,
      open('rpc.response.status_code', 'status of the response to the hub'),
      closed('error.type', 'reason of the failure, as in the log; absent when the module has replied', [
        '',
        ...reasons,
      ]),
    ],
  ),
  'device_messaging.edge.invocations': updowncounter('{call}')(
    'Invocations in progress',
    'At `limits.inFlight` the proxy refuses others.',
  ),
  'device_messaging.edge.replies.dropped': counter('{message}')(
    'Replies of modules that match no request',
    'A module that is too slow, replies twice, or retains its replies.',
    [
      module,
      closed('device_messaging.reason', 'late, repeated or not asked for, or kept by the broker', [
        'unknown',
        'retained',
      ]),
    ],
  ),
  'device_messaging.edge.responses.lost': counter('{call}')(
    'Responses that did not reach the hub, because the connection broke',
    'The application does not know the outcome of these invocations. Often: check the network.',
  ),
  'device_messaging.edge.configuration.refused': gauge('1')(
    '1 while the configuration file has a fault and the last good one is in effect, else 0',
    'Alert on 1: the log has the line of the fault. A restart would fail.',
  ),
  'device_messaging.edge.connected': gauge('1')(
    '1 while the proxy is connected, else 0',
    'Alert on 0 for five minutes.',
    [peer],
  ),
  'device_messaging.edge.connections': counter('{connection}')(
    'Attempts to connect',
    'Many `opened` within an hour: another program uses the same identity, or the network is bad.',
    [peer, closed('device_messaging.result', 'what came of it', ['opened', 'failed'])],
  ),
  'http.client.request.duration': histogram(buckets, { 'http.request.method': 'GET' })(
    'Duration of one download of a file for a module',
    'How much of an invocation is the time of its files, and why they cannot be downloaded.',
    [
      open('http.response.status_code', 'status of the response; absent when there was none'),
      closed('error.type', 'why there is no file; absent when it is complete', [
        '',
        'no_connection',
        'timeout',
        'connection_lost',
        'status',
        'changed',
        'unexpected',
        'folder',
      ]),
    ],
  ),
} as const;

/** Every metric of the edge proxy, by its name in OpenTelemetry. The names are an interface: dashboards and alerts use them (D95). */
export const metrics = { ...edgeMetrics, ...processMetrics } as const;

/** What the parts of the edge proxy record. */
export type Meter = MeterOf<typeof metrics>;

export const createMeter = (): MeterWithReadings<typeof metrics> => createMeterOf(metrics);
