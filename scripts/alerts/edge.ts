import type { EdgeAlert, Unalerted } from './alert.ts';

const alerts: readonly EdgeAlert[] = [
  {
    ...{ id: 'EdgeRestarts', severity: 'page' },
    events: ['program.uncaught_exception', 'program.unhandled_rejection', 'program.not_started'],
    metric: 'resets(process_uptime[1h]) > 2',
    means: 'The proxy ends again and again.',
    todo: 'Repair what `err` names. An exception is a defect: report it.',
  },
  {
    ...{ id: 'EdgeHubAway', severity: 'page', for: '5m', events: ['hub.waiting'], until: 'hub.connected' },
    metric: 'device_messaging_edge_connected{device_messaging_peer="hub"} == 0',
    means: 'No invocation arrives.',
    todo: '`reason` says why: the network, the key, or a disabled device.',
  },
  {
    ...{ id: 'EdgeBrokerAway', severity: 'page', for: '5m', events: ['broker.waiting'], until: 'broker.connected' },
    metric: 'device_messaging_edge_connected{device_messaging_peer="broker"} == 0',
    means: 'The broker is away, or refuses the proxy.',
    todo: 'Repair what `reason` names; the proxy reconnects by itself.',
  },
  {
    ...{ id: 'EdgeHubUnstable', severity: 'page', events: ['hub.unstable'] },
    // The pauses of two such proxies grow to a minute: then each opens five connections in ten.
    metric:
      'increase(device_messaging_edge_connections_total{device_messaging_peer="hub",device_messaging_result="opened"}[15m]) > 5',
    means: 'Two proxies, or a device program, have the same connection string.',
    todo: 'Give each an identity of its own.',
  },
  {
    ...{ id: 'EdgeBrokerUnstable', severity: 'page', events: ['broker.unstable'] },
    metric:
      'increase(device_messaging_edge_connections_total{device_messaging_peer="broker",device_messaging_result="opened"}[10m]) > 5',
    means: 'Two clients have one id at the broker, or an access rule ends connections.',
    todo: 'Give each client an id of its own.',
  },
  {
    ...{ id: 'EdgeSubscriptionRefused', severity: 'page', events: ['broker.subscription_refused'] },
    metric: 'increase(rpc_server_call_duration_count{error_type="broker_unavailable"}[10m]) > 0',
    means: 'Invocations of this module get 503 until the access rules of the broker let the proxy subscribe.',
    todo: 'Let the proxy subscribe to `topics_methods_out` of the module in `module`.',
  },
  {
    ...{ id: 'EdgeFolderUnusable', severity: 'page', events: ['module.folder_unusable'] },
    metric: 'increase(rpc_server_call_duration_count{error_type="folder_unavailable"}[10m]) > 0',
    means: 'Methods with files of a module cannot be invoked.',
    todo: '`cause` says why; fix it and restart the proxy.',
  },
  {
    ...{ id: 'EdgeRepliesUnknown', severity: 'ticket', events: ['module.replies_unknown'] },
    metric: 'increase(device_messaging_edge_replies_dropped_total{device_messaging_reason="unknown"}[1h]) > 0',
    means: 'A module is too slow, or sends wrong replies.',
    todo: 'Repair the module.',
  },
  {
    ...{ id: 'EdgeRepliesRetained', severity: 'ticket', events: ['module.replies_retained'] },
    metric: 'increase(device_messaging_edge_replies_dropped_total{device_messaging_reason="retained"}[1h]) > 0',
    means: 'A module retains its replies.',
    todo: 'Publish replies without *retain*, and clear the retained ones.',
  },
  {
    ...{ id: 'EdgeConfigurationRefused', severity: 'ticket', events: ['configuration.refused'] },
    until: 'configuration.taken',
    metric: 'device_messaging_edge_configuration_refused == 1',
    means: 'The changed file has a fault, and the last good one stays in effect; a restart would fail.',
    todo: 'Repair the lines in `problems`; the proxy reads the file again by itself.',
  },
  {
    ...{ id: 'EdgeResponseLost', severity: 'ticket', events: ['hub.response_lost'] },
    metric: 'increase(device_messaging_edge_responses_lost_total[1h]) > 0',
    means: 'The connection broke during a call, whose outcome the application does not know.',
    todo: 'Check the network when it repeats.',
  },
  {
    ...{ id: 'EdgeDefect', severity: 'ticket', events: ['method.failed_unforeseen'] },
    metric: 'increase(rpc_server_call_duration_count{error_type="internal_error"}[1h]) > 0',
    means: 'A defect of the proxy.',
    todo: 'Report `err`.',
  },
];

export const edgeAlerts = alerts.map((alert): EdgeAlert => ({ ...alert, runbook: 'remote-methods-fail' }));

export const edgeUnalerted: Unalerted<string> = { 'program.not_stopped_cleanly': 'the process ends anyway' };
