import { closed, histogram, open, updowncounter } from 'telemetry/declaration.ts';
import { failures, hubFailures, type Reason } from '../../protocol/vocabulary.ts';
import { requestBuckets } from './buckets.ts';

const constants = {
  'http.request.method': 'POST',
  'http.route': '/objects/{objectId}/models/{model}/methods/{method}',
};

/** Invocations of remote methods at the front door. */
export const methodMetrics = {
  'http.server.request.duration': histogram(
    {
      unit: 's',
      what: 'Duration of an invocation of a remote method, from the request until the end of the response',
      use: 'Results by status and reason. Alert when `hub_refuses_us`, `backend_unavailable` or `storage_unavailable` increases.',
      constants,
      buckets: [...requestBuckets, 60, 300],
    },
    open('http.response.status_code', 'status of the response; absent when there was none'),
    closed('error.type', 'reason of the failure, as in the log; absent after a success', [
      '',
      ...(Object.keys(failures) as Reason[]),
      'caller_gone',
    ]),
  ),
  'http.server.active_requests': updowncounter({
    unit: '{request}',
    what: 'Invocations in progress',
    use: 'At 1,000 the front door refuses others: add an instance.',
    constants,
  }),
  'rpc.client.call.duration': histogram(
    {
      unit: 's',
      what: 'Duration of one call of a direct method through the hub, until the response of the device',
      use: 'How much of an invocation is the time of the hub and the device. Alert when `refused`, `unavailable` or `quota` increases; `throttled`: more calls than the tier of the hub takes.',
      constants: { 'rpc.system.name': 'iothub', 'rpc.method': 'invokeMethod' },
      buckets: [...requestBuckets, 60, 300],
    },
    open('rpc.response.status_code', 'HTTP status of the hub; absent when there was no response'),
    closed('error.type', 'why the device has not responded; absent when it has', ['', ...hubFailures]),
  ),
} as const;
