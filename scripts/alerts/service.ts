import type { ServerAlert, Unalerted } from './alert.ts';

export const serviceAlerts: readonly ServerAlert[] = [
  {
    ...{ id: 'ServiceNotReady', severity: 'page', for: '5m', probe: '/readyz' },
    means: 'Devices get no answers.',
    todo: '`waitingFor` names the reason.',
  },
  {
    ...{ id: 'ServiceRestarts', severity: 'page' },
    events: ['program.uncaught_exception', 'program.unhandled_rejection', 'program.not_started'],
    runbook: 'the-process-ends-again-and-again',
    metric: 'resets(process_uptime[1h]) > 2',
    means: 'The process ends again and again.',
    todo: 'Repair what `err` names. An exception is a defect: report it.',
  },
  {
    ...{ id: 'HubUnreadable', severity: 'page', for: '5m', level: 'warn', events: ['hub.unreadable'] },
    until: 'hub.readable',
    means: 'The hub refuses or does not answer.',
    todo: '`setting` and `todo` name the error: see [wrong settings](troubleshooting.md#wrong-settings).',
  },
  {
    ...{ id: 'CheckpointUnusable', severity: 'page', level: 'error', events: ['hub.unreadable'] },
    means:
      'A partition is not read: its checkpoint is damaged (`hubSaid` names the file or blob), or beyond the hub’s newest event, or the hub has nothing there, because it was created anew or failed over.',
    todo: 'Stop the instances and remove the partition’s checkpoint (file store: move the file away) to read it from `HUB_START_POSITION` ([D22](maintainers/decisions.md#d22--the-start-position-is-decided-once), [D195](maintainers/decisions.md#d195--a-checkpoint-that-cannot-be-read-is-not-a-missing-one)).',
  },
  {
    ...{ id: 'PartitionUnread', severity: 'page', for: '5m', runbook: 'it-does-not-start-or-is-not-ready' },
    metric:
      'sum(device_messaging_partitions{device_messaging_state="reading"}) < count(count by (messaging_destination_partition_id) (max_over_time(device_messaging_partition_behind_age[1d])))',
    means: 'No instance reads one of the partitions.',
    todo: '`/partitions` of each instance, under `elsewhere`, names the owners; `/readyz` names what they wait for.',
  },
  {
    ...{ id: 'Behind', severity: 'page', runbook: 'questions-and-where-their-answers-are' },
    metric: 'max by (messaging_destination_partition_id) (device_messaging_partition_behind_duration) > 43200',
    means: 'Events older than the hub’s retention are lost; 43,200 s is half of a retention of one day.',
    todo: 'A backend is down, or more instances are needed.',
  },
  {
    ...{ id: 'FallingBehind', severity: 'page', for: '1h', runbook: 'questions-and-where-their-answers-are' },
    metric:
      'max by (messaging_destination_partition_id) (device_messaging_partition_behind_duration) > 300 and max by (messaging_destination_partition_id) (deriv(device_messaging_partition_behind_duration[1h])) > 0',
    means: 'A partition has fallen further behind for an hour.',
    todo: 'A backend is down, or more instances are needed.',
  },
  // while the hub does not answer, the series of how far behind is absent, and an alert on it silent; the youngest, because
  // another instance may know
  {
    ...{ id: 'BehindUnknown', severity: 'ticket', for: '5m', runbook: 'it-does-not-start-or-is-not-ready' },
    metric: 'min by (messaging_destination_partition_id) (device_messaging_partition_behind_age) > 60',
    means:
      'The hub does not answer about a partition: nobody knows how far it is behind, and `Behind` and `FallingBehind` say nothing.',
    todo: 'If the service is not ready, `waitingFor` of `/readyz` has the reason. Otherwise the log has it at the level `debug` (`cannot ask the hub for its newest event`).',
  },
  {
    ...{ id: 'HubWait', severity: 'ticket', for: '10m', runbook: 'questions-and-where-their-answers-are' },
    metric:
      'histogram_quantile(0.95, sum by (le) (rate(device_messaging_wait_duration_bucket{device_messaging_stage="hub"}[10m]))) > 60',
    means: 'Messages wait in the hub for more than a minute before this instance reads them.',
    todo: 'The partition was not read, or this instance reads too slowly: more instances. Set the bound to what your devices may wait.',
  },
  {
    ...{ id: 'MessageStuck', severity: 'page', runbook: 'questions-and-where-their-answers-are' },
    metric: 'max(device_messaging_partition_oldest_duration) > 900 unless on() max(device_messaging_backend_out) == 1',
    means: 'A message is not handled to its end within the longest time-out, while no backend is out.',
    todo: '`/devices` names the oldest message and what it waits for.',
  },
  {
    ...{ id: 'BackendOut', severity: 'page', for: '5m', events: ['backend.out'], until: 'backend.back' },
    runbook: 'questions-and-where-their-answers-are',
    metric: 'max by (device_messaging_backend) (device_messaging_backend_out) == 1',
    means:
      'Messages wait; only messages already started can fail. When half of the room of waiting messages is theirs, the rest of the partition waits, too.',
    todo: 'Repair the backend. `failure` has its last error; the line of each minute counts failed attempts and messages that started to wait.',
  },
  {
    ...{ id: 'TokenRefused', severity: 'page', events: ['backend.access_refused'], until: 'backend.access_accepted' },
    runbook: 'wrong-settings',
    metric: 'increase(http_client_request_duration_count{http_response_status_code="401"}[5m]) > 0',
    means: 'Credentials for the backends were changed or have expired.',
    todo: 'Set the right credentials.',
  },
  {
    ...{ id: 'TokenMissing', severity: 'page', for: '5m', events: ['token.missing'], until: 'token.received' },
    runbook: 'wrong-settings',
    metric: 'max(device_messaging_backend_out{device_messaging_backend="tokenEndpoint"}) > 0',
    means: 'The token endpoint is unreachable or refuses the client.',
    todo: 'Repair what `cause` names.',
  },
  {
    ...{ id: 'StoreFails', severity: 'ticket', for: '5m', runbook: 'it-does-not-start-or-is-not-ready' },
    metric: 'sum by (device_messaging_store) (increase(device_messaging_store_duration_count{error_type!=""}[5m])) > 0',
    means:
      'A store refuses or is not available: no partition changes hands, and a crash would repeat what no checkpoint contains.',
    todo: 'Follow `todo` of the lines of the log that name the store.',
  },
  {
    ...{ id: 'DeadLetterNotStored', severity: 'page', events: ['message.not_parked'], runbook: 'dead-letters' },
    metric: 'increase(device_messaging_dead_letters_total{device_messaging_result="not_parked"}[10m]) > 0',
    means:
      'A failed message is recorded only in the log, and until its retention ends in the hub: a limit or the store has refused its dead letter.',
    todo: 'Follow `todo` of the line: mostly a device has as many dead letters as it may have.',
  },
  {
    ...{ id: 'DeadLettersWait', severity: 'page', for: '5m', events: ['dead_letters.not_written'] },
    ...{ until: 'dead_letters.written', runbook: 'dead-letters' },
    metric: 'max(device_messaging_dead_letters_waiting) > 0',
    means:
      'The store of dead letters is out: failed messages wait for it, each with the later ones of its device, and no checkpoint passes them.',
    todo: 'Follow `setting` and `todo` of the line. What waits is written when the store is back.',
  },
  {
    ...{ id: 'DeadLetters', severity: 'ticket' },
    events: ['message.failed_unforeseen', 'message.given_up', 'message.unreadable', 'backend.call_failed'],
    runbook: 'dead-letters',
    metric:
      'increase(device_messaging_handled_messages_total{device_messaging_code=~"internal_platform_error|timeout_exceeded"}[10m]) > 0 or increase(device_messaging_dead_letters_total{device_messaging_result="parked"}[10m]) > 0',
    means: 'A message failed through the service’s own side, and is a dead letter unless the line says otherwise.',
    todo: 'Find the cause by its `incident`, fix it, [replay](troubleshooting.md#dead-letters).',
  },
  {
    ...{ id: 'UncleanShutdowns', severity: 'page', events: ['quarantine.begun'] },
    runbook: 'the-process-ends-again-and-again',
    metric:
      'sum(device_messaging_partition_suspects) > 0 or increase(device_messaging_quarantine_trials_total[1h]) > 0',
    means:
      'A partition was taken over twice or more without having been released: crashes, out of memory, kills by the liveness probe.',
    todo: 'Find out [why the process ends](troubleshooting.md#the-process-ends-again-and-again).',
  },
  {
    ...{ id: 'MessageNotExecuted', severity: 'page', events: ['message.not_executed'] },
    means: 'One message can trigger a defect that ends the process.',
    todo: 'Keep the dead letter, find the defect, replay only with a fixed version.',
  },
  {
    ...{ id: 'MessagePassedOver', severity: 'page', events: ['quarantine.passed_over'] },
    means: 'One message triggers a defect even without being executed, and has neither an answer nor a dead letter.',
    todo: 'The hub has the message at this position until its retention ends: report it as a defect.',
  },
  {
    ...{ id: 'CheckpointsFail', severity: 'ticket', for: '5m', events: ['checkpoint.not_written'] },
    runbook: 'it-does-not-start-or-is-not-ready',
    metric:
      'max(device_messaging_partition_checkpoint_duration) > 300 or increase(device_messaging_checkpoints_total{device_messaging_result="failed"}[10m]) > 0 unless ignoring(device_messaging_result) increase(device_messaging_checkpoints_total{device_messaging_result="written"}[10m]) > 0',
    means: 'The store fails. A crash would repeat everything since the last checkpoint.',
    todo: 'Repair what `err` names: the disk, the network, the access to the container.',
  },
  {
    ...{ id: 'CheckpointMapUnusable', severity: 'ticket', events: ['checkpoint.map_unusable'] },
    means: 'What was done above the checkpoint is handled again.',
    todo: 'Expected once for each partition after an upgrade, or after a checkpoint was moved by hand. Otherwise the store damages its data.',
  },
  {
    ...{ id: 'RoundsFail', severity: 'ticket', for: '5m', events: ['ownership.round_failed'] },
    means: 'Hub or store do not answer, or another process holds the checkpoint file.',
    todo: 'Repair what `err` names.',
  },
  {
    ...{ id: 'PartitionLost', severity: 'ticket', events: ['partition.lost'] },
    runbook: 'it-does-not-start-or-is-not-ready',
    metric: 'increase(device_messaging_sessions_ended_total{device_messaging_reason="lost"}[1h]) > 0',
    means: 'Without a scaling: a foreign reader in the consumer group, or an instance that could not renew in time.',
    todo: 'Give the service its own consumer group, and check the store.',
  },
  {
    ...{ id: 'EventsLost', severity: 'page', events: ['partition.gap'] },
    runbook: 'questions-and-where-their-answers-are',
    metric: 'increase(device_messaging_gaps_total[1h]) > 0',
    means: 'Messages may be lost.',
    todo: '`reason` `retention`: the hub deleted them before they were read; a backend was down for too long, or more instances are needed. `unknown`: look at the hub.',
  },
  {
    ...{ id: 'HubFailedOver', severity: 'ticket', events: ['hub.failed_over', 'hub.messages_left'] },
    means:
      'The hub has failed over: replies that devices had not fetched, and events that were not read, are lost with the region that it left.',
    todo: 'Nothing at the service, which reads the new endpoint when it is started again: [what to expect](guarantees.md#when-the-hub-fails-over).',
  },
  {
    ...{ id: 'EndpointUnknown', severity: 'page', for: '5m' },
    events: ['hub.endpoint_not_found', 'hub.endpoint_not_opened'],
    means: 'The hub does not name its event endpoint, or that cannot be opened: nothing is read from another one.',
    todo: 'Follow `setting` and `todo`.',
  },
  {
    ...{ id: 'HubWithholdsEvents', severity: 'ticket', events: ['hub.events_withheld', 'hub.silent'] },
    means: 'Once: a failover or maintenance of the hub. Repeatedly: the network.',
    todo: 'Check the network when it repeats.',
  },
  {
    ...{ id: 'DeadLettersGrow', severity: 'ticket' },
    events: ['dead_letters.not_counted', 'dead_letters.not_deleted', 'dead_letters.not_tidied'],
    means: 'The store takes dead letters but cannot be listed or cleared: it grows, and the retention is not applied.',
    todo: 'Give the service the rights to list and delete.',
  },
  {
    ...{ id: 'SettingUnknown', severity: 'ticket', events: ['setting.unknown'] },
    means: 'A variable has no effect: its name is misspelt, or the setting was removed, or it is `ALL_PROXY`.',
    todo: '`hint` says more.',
  },
  {
    ...{ id: 'RepliesDropped', severity: 'ticket', runbook: 'devices-get-their-answers-late-or-not-at-all' },
    metric: 'increase(device_messaging_replies_total{device_messaging_result!="delivered"}[1h]) > 10',
    means:
      'Devices do not fetch their messages (the hub keeps 50 for each), or the hub throttles. The lines `handled` say `dropped` and why.',
    todo: '`notFetching` of `/devices` names the devices.',
  },
  {
    ...{ id: 'RepliesThrottled', severity: 'ticket', for: '1h', events: ['replies.throttled'] },
    runbook: 'devices-get-their-answers-late-or-not-at-all',
    metric: 'increase(device_messaging_replies_total{device_messaging_result="throttled"}[1h]) > 0',
    means: 'More replies than the hub’s tier takes: devices get them late.',
    todo: 'The hub needs more units.',
  },
  {
    ...{ id: 'RepliesUnanswered', severity: 'ticket', for: '1h', events: ['replies.unanswered'] },
    runbook: 'devices-get-their-answers-late-or-not-at-all',
    metric: 'increase(device_messaging_replies_total{device_messaging_result="unanswered"}[1h]) > 0',
    means: 'The service sends single replies again, so devices may get them twice.',
    todo: 'The hub is slow, or `REPLIES_MAX_WAIT_SECONDS` too short.',
  },
  {
    ...{ id: 'HubQuotaUsedUp', severity: 'page', events: ['replies.quota_used_up'], until: 'replies.accepted' },
    runbook: 'devices-get-their-answers-late-or-not-at-all',
    metric: 'increase(messaging_client_operation_duration_count{error_type="quota"}[10m]) > 0',
    means: 'No device gets an answer until the next day (UTC), or until the hub has more units.',
    todo: 'Buy units, or wait for the next day.',
  },
  {
    ...{ id: 'HubSuspended', severity: 'page', events: ['replies.hub_suspended'], until: 'replies.accepted' },
    runbook: 'devices-get-their-answers-late-or-not-at-all',
    metric: 'increase(messaging_client_operation_duration_count{error_type="suspended"}[10m]) > 0',
    means: 'No device gets an answer until the subscription is restored.',
    todo: 'Restore the subscription.',
  },
  {
    ...{ id: 'ServiceEndpointUnreachable', severity: 'page', for: '5m', events: ['service_endpoint.unreachable'] },
    ...{ until: 'service_endpoint.reachable', runbook: 'devices-get-their-answers-late-or-not-at-all' },
    metric: 'increase(messaging_client_operation_duration_count{error_type="hub_unavailable"}[10m]) > 0',
    means: 'Replies wait: the hub is down, the network fails, or a setting is wrong.',
    todo: '`hubSaid` and `todo` say which.',
  },
  {
    ...{ id: 'EventUndecodable', severity: 'ticket', events: ['message.undecodable'] },
    runbook: 'questions-and-where-their-answers-are',
    metric: 'increase(messaging_client_consumed_messages_total{device_messaging_kind="undecodable"}[1h]) > 0',
    means: 'A device sends AMQP that would harm a reader.',
    todo: '`device` names it: repair or remove it.',
  },
  {
    ...{ id: 'EventUnattributed', severity: 'ticket', events: ['message.unattributed'], runbook: 'wrong-settings' },
    metric: 'increase(messaging_client_consumed_messages_total{device_messaging_kind="unattributed"}[1h]) > 0',
    means: 'This is not the hub’s built-in endpoint, or another program can send to it.',
    todo: 'Use the built-in endpoint.',
  },
  {
    ...{ id: 'SpansNotDelivered', severity: 'ticket', for: '1h', events: ['traces.not_delivered'] },
    means: 'Traces are lost, nothing else.',
    todo: '`err` has the collector’s answer.',
  },
  {
    ...{ id: 'MemoryHigh', severity: 'ticket', for: '10m', runbook: 'the-process-ends-again-and-again' },
    metric: 'max(process_memory_usage) > 900000000',
    means: 'The process comes near the limit of its container, which would kill it; 900 MB suits a limit of 1 GB.',
    todo: 'Set the bound to nine tenths of your limit. Raise the limit, or lower `DELIVERY_MAX_BYTES`.',
  },
  {
    ...{ id: 'EventLoopBlocked', severity: 'ticket', for: '5m', runbook: 'questions-and-where-their-answers-are' },
    metric: 'max(nodejs_eventloop_delay_p99) > 1',
    means: 'The process has too little CPU, or something takes it for long.',
    todo: 'Give it CPU, or add instances.',
  },
];

export const serviceUnalerted: Unalerted<string> = {
  'program.not_stopped_cleanly': 'the process ends anyway; the next reader repeats what was in flight',
  'partition.newest_unknown': 'messages may be checked again at the backends, nothing else',
  'http.remark': 'a connection that broke is no trouble of ours; a defect shows in the alerts on answers',
};

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
