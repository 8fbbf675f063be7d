import { increased, type ServerAlert, type Unalerted } from './alert.ts';

/** An environment and a program of it (D440). */
const each = 'by (namespace, job)';
const partition = 'by (namespace, job, messaging_destination_partition_id)';
const instance = 'by (namespace, job, instance)';
const backend = 'by (namespace, job, device_messaging_backend)';

const reading = 'device_messaging_partitions{device_messaging_state="reading"}';

/** The names are those of many programs: only what one of ours says counts. */
const ofOurs = 'and on (namespace, job, instance) max_over_time(device_messaging_ready[1h])';
const invocations = '/objects/{objectId}/models/{model}/methods/{method}';

/** Of the service and the front door. */
export const serviceAlerts: readonly ServerAlert[] = [
  {
    ...{ id: 'ServiceAbsent', severity: 'page', events: ['program.not_started'] },
    runbook: 'it-does-not-start-or-is-not-ready',
    metric: `group ${each} (max_over_time(device_messaging_ready[1d])) unless group ${each} (max_over_time(device_messaging_ready[2m])) or absent_over_time(device_messaging_ready[1d]) and group (up offset 2m)`,
    means:
      'No instance has answered Prometheus for two minutes, though one did in the last day; without a job, none ever did.',
    todo: 'Look whether the processes run, and at the last line of the log. If `/livez` answers, Prometheus cannot reach them: its targets say why.',
  },
  {
    ...{ id: 'PartitionUnread', severity: 'page', events: [] },
    runbook: 'it-does-not-start-or-is-not-ready',
    metric: `count ${each} (group ${partition} (max_over_time(device_messaging_partition_messages[1d])) unless group ${partition} (max_over_time(device_messaging_partition_messages[2m]))) > 0 or sum ${each} (${reading}) == 0 and sum ${each} (${reading} offset 2m) == 0`,
    means:
      'For two minutes nobody has read a partition that was read in the last day, or any at all: an instance has gone, and no other has taken its place.',
    todo: '`/partitions` of each instance, under `elsewhere`, names the owners; `/readyz` names what they wait for.',
  },
  {
    ...{ id: 'NotReady', severity: 'page', for: '3m', runbook: 'it-does-not-start-or-is-not-ready' },
    events: [
      ...([
        'hub.unreadable',
        'hub.endpoint_not_found',
        'hub.endpoint_not_opened',
        'service_endpoint.unreachable',
      ] as const),
      'methods.access_refused',
    ],
    metric: `min ${instance} (max_over_time(device_messaging_ready[2m])) == 0`,
    means:
      '`/readyz` of an instance has been 503 for five minutes: devices get no answers, or methods cannot be invoked.',
    todo: '`waitingFor` names the reason; `setting` and `todo` of the line say what to do.',
  },
  {
    ...{ id: 'InstanceDown', severity: 'ticket', for: '10m', events: ['program.not_started'] },
    runbook: 'the-process-ends-again-and-again',
    metric: `count ${each} (up == 0 and on (namespace, job) device_messaging_ready)`,
    means: 'An instance does not answer Prometheus, while others do its work.',
    todo: 'Look at its last lines. If `/livez` answers, Prometheus cannot reach it.',
  },
  {
    ...{ id: 'ServiceRestarts', severity: 'page', runbook: 'the-process-ends-again-and-again' },
    events: [
      ...(['program.uncaught_exception', 'program.unhandled_rejection', 'program.not_started'] as const),
      ...(['quarantine.begun', 'quarantine.passed_over', 'message.not_executed'] as const),
    ],
    metric: `max ${each} (resets(process_uptime[1h]) ${ofOurs}) > 2 or sum ${each} (device_messaging_partition_suspects) > 0 or sum ${each} ${increased('device_messaging_quarantine_trials_total', '1h')}`,
    means:
      'The process ends again and again, or a partition was taken over twice without having been released: crashes, out of memory, kills by the liveness probe.',
    todo: 'Repair what `err` names. An exception is a defect: report it.',
  },
  {
    ...{ id: 'Behind', severity: 'page', for: '1h', events: [], runbook: 'questions-and-where-their-answers-are' },
    metric: `max ${each} (device_messaging_partition_behind_duration > 300 and deriv(device_messaging_partition_behind_duration[1h]) > 0) or max ${each} (device_messaging_partition_behind_duration) > 43200`,
    means:
      'Events wait longer and longer for an hour, or for half a day: those older than the hub’s retention (here one day) are lost.',
    todo: 'A backend is down, more instances are needed, or a message is stuck: `/devices` names the oldest.',
  },
  {
    ...{ id: 'EventsLost', severity: 'page', events: ['partition.gap'] },
    runbook: 'questions-and-where-their-answers-are',
    metric: `sum ${each} ${increased('device_messaging_gaps_total', '1h')}`,
    means: 'Messages may be lost.',
    todo: '`reason` `retention`: the hub deleted them before they were read; a backend was down for too long, or more instances are needed. `unknown`: look at the hub.',
  },
  {
    ...{ id: 'BackendOut', severity: 'page', for: '5m', events: ['backend.out', 'token.missing'] },
    runbook: 'questions-and-where-their-answers-are',
    metric: `max ${backend} (device_messaging_backend_out) == 1`,
    means:
      'A backend, or the token endpoint, does not answer or refuses: messages wait, and invocations get 503. When half of the room of waiting messages is theirs, the rest of the partition waits, too.',
    todo: 'Repair it; `failure` or `cause` has its last error.',
  },
  {
    ...{ id: 'TokenRefused', severity: 'page', for: '1m', events: ['backend.access_refused'] },
    runbook: 'wrong-settings',
    metric: `max ${backend} (device_messaging_backend_access_refused) == 1`,
    means: 'A backend refuses the program’s own token: its credentials were changed or have expired.',
    todo: 'Set the right credentials.',
  },
  {
    ...{ id: 'StoreFails', severity: 'page', for: '5m', runbook: 'it-does-not-start-or-is-not-ready' },
    events: [
      ...(['checkpoint.not_written', 'ownership.round_failed', 'files.unavailable'] as const),
      ...(['dead_letters.not_written', 'dead_letters.not_counted'] as const),
      ...(['dead_letters.not_deleted', 'dead_letters.not_tidied'] as const),
    ],
    metric: `sum ${each} ${increased('device_messaging_store_duration_count{error_type!=""}', '5m')} or max ${each} (device_messaging_partition_checkpoint_duration) > 300 or max ${each} (device_messaging_dead_letters_waiting) > 0`,
    means:
      'The disk or the storage account refuses or is away. No partition changes hands, and a crash would repeat what no checkpoint contains; failed messages wait with the later ones of their devices; methods with files get 503.',
    todo: 'Follow `setting` and `todo` of the lines that name the store.',
  },
  {
    ...{ id: 'DeadLetters', severity: 'ticket', runbook: 'dead-letters' },
    events: [
      ...(['message.failed_unforeseen', 'message.given_up', 'message.unreadable', 'message.not_parked'] as const),
      'backend.call_failed',
    ],
    metric: `sum ${each} (${increased('device_messaging_dead_letters_total', '10m')} or ${increased(`http_server_request_duration_count{http_route="${invocations}",error_type="internal_error"}`, '10m')})`,
    means:
      'A message or an invocation failed through the service’s own side. A message is a dead letter, unless `message.not_parked` says that only the hub has it.',
    todo: 'Find the cause by its `incident`, fix it, [replay](operations.md#dead-letters).',
  },
  {
    ...{
      id: 'HubTakesNoReplies',
      severity: 'page',
      for: '5m',
      runbook: 'how-many-replies-the-hub-takes',
    },
    events: ['replies.quota_used_up', 'replies.hub_suspended'],
    metric: `min ${each} (device_messaging_replies_rate) == 0 unless sum ${each} ${increased('device_messaging_replies_total{device_messaging_result="delivered"}', '3m')}`,
    means: 'The hub’s daily quota is used up, or the hub is suspended: no device gets an answer.',
    todo: 'Buy units or wait for the next day (UTC); restore the subscription.',
  },
  {
    ...{ id: 'HubThrottles', severity: 'ticket', for: '1h', events: ['replies.throttled', 'replies.unanswered'] },
    runbook: 'how-many-replies-the-hub-takes',
    metric: `sum ${each} (${increased('device_messaging_replies_total{device_messaging_result=~"throttled|unanswered|hub_unavailable|not_taken|refused"}', '1h')} or ${increased('rpc_client_call_duration_count{rpc_method="invokeMethod",error_type="throttled"}', '1h')})`,
    means: 'More replies or invocations than the hub’s tier takes: answers come late or are dropped.',
    todo: 'The hub needs more units, or is slow.',
  },
  {
    ...{ id: 'ForeignClient', severity: 'ticket', runbook: 'wrong-settings' },
    events: ['partition.lost', 'message.unattributed', 'message.undecodable'],
    metric: `sum ${each} (${increased('device_messaging_sessions_ended_total{device_messaging_reason="lost"}', '1h')} or ${increased('messaging_client_consumed_messages_total{device_messaging_kind=~"unattributed|undecodable"}', '1h')})`,
    means:
      'Another program reads in the consumer group, or sends events without the hub’s stamp; or a device sends AMQP that would harm a reader. Or an instance could not renew its ownership in time.',
    todo: 'Give the service its own consumer group, and read the built-in endpoint; mend or remove the device in `device`.',
  },
  {
    ...{ id: 'Overloaded', severity: 'ticket', for: '10m', events: [], runbook: 'the-process-ends-again-and-again' },
    metric: `max ${instance} ((process_memory_usage > 900000000 or (process_memory_usage > 600000000 and on (namespace, job, instance) http_server_active_requests{http_route="${invocations}"}) or nodejs_eventloop_delay_p99 > 1) ${ofOurs})`,
    means:
      'An instance comes near its limit of memory (900 MB suit the service’s limit of 1 GB, 600 MB the front door’s of 640 MiB: set nine tenths of yours), or has too little CPU.',
    todo: 'Raise the limit, lower `DELIVERY_MAX_BYTES`, or add instances.',
  },
  {
    ...{ id: 'MethodsFail', severity: 'page', for: '5m', events: ['methods.not_accepted'] },
    runbook: 'remote-methods-fail',
    metric: `sum ${each} ${increased('rpc_client_call_duration_count{rpc_method="invokeMethod",error_type=~"refused|unavailable|quota"}', '5m')}`,
    means:
      'The hub refuses methods, is not reachable or overloaded: callers get 503. Or its daily quota is used up: they get 429.',
    todo: 'Follow `todo` of the line `methods.not_accepted` or `methods.access_refused`. Without one, the quota is used up until midnight UTC.',
  },
];

export const serviceUnalerted: Unalerted<string> = {
  'program.not_stopped_cleanly': 'the process ends anyway; the next reader repeats what was in flight',
  'partition.newest_unknown': 'messages may be checked again at the backends, nothing else',
  'checkpoint.map_unusable':
    'what was done above the checkpoint is handled again; expected once for each partition after an upgrade',
  'http.remark': 'a connection that broke is no trouble of ours; a defect shows in the alerts on answers',
};
