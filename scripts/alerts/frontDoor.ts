import type { ServerAlert } from './alert.ts';

export const frontDoorAlerts: readonly ServerAlert[] = [
  {
    ...{ id: 'FrontDoorNotReady', severity: 'page', for: '5m', probe: '/readyz' },
    means: 'Methods cannot be invoked.',
    todo: '`waitingFor` names the reason.',
  },
  {
    ...{ id: 'MethodsAccessRefused', severity: 'page', events: ['methods.access_refused'] },
    ...{ until: 'methods.access_granted_again', runbook: 'remote-methods-fail' },
    metric: 'increase(http_server_request_duration_count{error_type="hub_refuses_us"}[5m]) > 0',
    means: 'The hub refuses access: methods cannot be invoked.',
    todo: 'Follow `todo` of the line: the key, its right, or the clock.',
  },
  {
    ...{ id: 'MethodsNotAccepted', severity: 'page', for: '5m', events: ['methods.not_accepted'] },
    ...{ until: 'methods.accepted', runbook: 'remote-methods-fail' },
    metric: 'increase(rpc_client_call_duration_count{error_type=~"refused|unavailable|quota"}[5m]) > 0',
    means: 'The hub is not reachable or overloaded; callers get 502, 503 or 504.',
    todo: 'Check the hub and the network.',
  },
  {
    ...{ id: 'MethodsThrottled', severity: 'ticket', for: '1h', runbook: 'remote-methods-fail' },
    metric: 'increase(rpc_client_call_duration_count{error_type="throttled"}[1h]) > 0',
    means: 'More invocations than the hub’s tier takes.',
    todo: 'The hub needs more units.',
  },
  {
    ...{ id: 'BackendUnavailable', severity: 'page', for: '5m', events: ['backend.out'], until: 'backend.back' },
    runbook: 'remote-methods-fail',
    metric: 'increase(http_server_request_duration_count{error_type="backend_unavailable"}[5m]) > 0',
    means: 'Every invocation is answered with 503, because a backend does not answer.',
    todo: 'Repair the backend; `/backends` has its last failure.',
  },
  {
    ...{ id: 'MethodsTokenRefused', severity: 'page', events: ['backend.access_refused'] },
    until: 'backend.access_accepted',
    means: 'Credentials of the front door for the backends were changed or have expired.',
    todo: 'Set the right credentials.',
  },
  {
    ...{ id: 'FileStorageUnavailable', severity: 'page', events: ['files.unavailable'] },
    runbook: 'remote-methods-fail',
    metric: 'increase(http_server_request_duration_count{error_type="storage_unavailable"}[5m]) > 0',
    means: 'The storage does not answer or refuses; methods with files fail with 503.',
    todo: 'Repair what `cause` names.',
  },
  {
    ...{ id: 'MethodsDefect', severity: 'ticket', events: ['message.failed_unforeseen'] },
    means: 'A defect: the caller has the `incident`.',
    todo: 'Report `err`.',
  },
  {
    ...{ id: 'MethodsAborted', severity: 'ticket', events: ['methods.aborting'] },
    means: 'Callers got 504 at a stop.',
    todo: 'Check whether `METHODS_DRAIN_SECONDS` is long enough.',
  },
];
