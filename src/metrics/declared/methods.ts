import { closed, histogram, open, updowncounter } from 'telemetry/declaration.ts';
import { requestBuckets } from './buckets.ts';

/** Why an invocation failed, as in the log; `caller_gone`: the caller disconnected before the response. */
const reasons = [
  'invalid_request',
  'file_not_found',
  'file_too_large',
  'refused_by_device',
  'unauthorized',
  'forbidden',
  'object_not_found',
  'type_not_found',
  'method_not_found',
  'route_not_found',
  'unknown_to_device',
  'request_timeout',
  'no_owner',
  'other_object',
  'too_large',
  'unsupported_media_type',
  'expectation_failed',
  'throttled',
  'internal_error',
  'invalid_path',
  'bad_reply',
  'failed_at_device',
  'device_offline',
  'device_unknown',
  'unavailable_at_device',
  'hub_unavailable',
  'hub_refuses_us',
  'backend_unavailable',
  'storage_unavailable',
  'overloaded',
  'stopping',
  'no_reply',
  'no_reply_at_device',
  'outcome_unknown',
  'caller_gone',
] as const;

const constants = {
  'http.request.method': 'POST',
  'http.route': '/objects/{objectId}/models/{model}/methods/{method}',
};

/** Why there is no response of the device. */
const hubFailures = [
  'device_offline',
  'device_gone',
  'device_unknown',
  'throttled',
  'quota',
  'refused',
  'unavailable',
  'too_large',
  'bad_reply',
  'no_reply',
  'outcome_unknown',
  'invalid',
  'stopped_unsent',
  'stopped',
] as const;

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
    closed('error.type', 'reason of the failure, as in the log; absent after a success', ['', ...reasons]),
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
      use: 'How much of an invocation is the time of the hub and the device. Alert when `refused`, `unavailable` or `quota` increases; `throttled`: more calls than the tier of the hub takes. The probes of the access to the hub are not in it.',
      constants: { 'rpc.system.name': 'iothub', 'rpc.method': 'invokeMethod' },
      buckets: [...requestBuckets, 60, 300],
    },
    open('rpc.response.status_code', 'HTTP status of the hub; absent when there was no response'),
    closed('error.type', 'why the device has not responded; absent when it has', ['', ...hubFailures]),
  ),
} as const;
