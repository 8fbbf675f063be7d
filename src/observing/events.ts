import type { EventLevel, MessageOf } from '@device-messaging/telemetry/log.ts';
import { error, eventNames, fatal, info, linesDropped, warn, warnOrError } from '@device-messaging/telemetry/log.ts';

/** The lines of the log at `info` and above, but for `handled`: a closed list. Operators look for the names, with `docs/log-events.md`. */
export const events = {
  'program.starting': info('starting'),
  'program.started': info('started'),
  'program.not_started': fatal('could not start'),
  'program.stopping': info('stopping: finishing what is in progress; a second signal ends at once'),
  'program.stopped': info('stopped'),
  'program.not_stopped_cleanly': fatal('could not stop cleanly'),
  'program.uncaught_exception': fatal('uncaught exception'),
  'program.unhandled_rejection': fatal('unhandled rejection'),
  'metrics.not_sent': warn('metrics cannot be sent to the collector'),
  'log.level_changed': info('log level changed'),
  'log.lines_dropped': linesDropped,
  'setting.unknown': warn('environment variable is no setting'),
  'secret.unusable': warn('the file of a secret cannot be used: the last value stays'),
  'secret.usable': info('the file of a secret can be used again'),
  'secret.changed': info('another secret was read from its file, and is in use'),
  'health.served': info('health is served at /livez and /readyz'),
  'admin.served': info('the admin port is open'),
  'admin.not_served': warn('the admin port cannot be opened'),
  'trouble.over': info('trouble is over'),

  'hub.unreadable': warnOrError('the hub cannot be read'),
  'hub.readable': info('the hub can be read again'),
  'hub.silent': warn('no sign of life from the hub: subscribing again'),
  'hub.events_withheld': warn('the hub has events that do not come: connecting again'),
  'hub.endpoint_found': info('the hub’s event endpoint is found'),
  'hub.endpoint_not_found': warn('the hub’s event endpoint cannot be looked up'),
  'hub.endpoint_not_opened': error('the hub’s event endpoint cannot be opened; trying again'),
  'hub.failed_over': warn('the hub has failed over: stopping, so that a new process reads its other event endpoint'),
  'hub.messages_left': warn('messages were left unfinished at the endpoint that the hub has left'),
  'hub.partitions_not_counted': warn('cannot count the partitions of the hub; using the last count'),
  'ownership.round_failed': warn('could not look after the partitions; trying again'),
  'ownership.round_broken_off': warn('stopping in the middle of a round'),
  'ownership.not_renewed': warn('ownership not renewed while stopping'),

  'partition.reading': info('reading partition'),
  'partition.released': info('partition released'),
  'partition.not_released': warn('a partition was not released'),
  'partition.lost': warn('another instance reads this partition now'),
  'partitions.cut_off': warn(
    'neither the checkpoint store nor the hub answers: giving the partitions up, as others may have them',
  ),
  'partitions.stood_still': warn('this process stood still: reading its partitions again from their checkpoints'),
  'partition.gap': warn('events of the partition are missing'),
  'partition.newest_unknown': error('newest event not known: every event counts as redelivered'),
  'checkpoint.not_written': error('checkpoint not written'),
  'checkpoint.map_unusable': error('handling again what was done above the checkpoint'),
  'quarantine.begun': warn('unclean shutdowns: messages that may be the cause are handled in turns'),
  'quarantine.turn': info('suspects begin'),
  'quarantine.passed_over': error(
    'message has ended the process even without being executed: passed over, neither answered nor parked',
  ),

  'message.unattributed': warn('message without the hub’s device stamp passed over'),
  'message.undecodable': warn('event whose properties cannot be decoded passed over'),
  'message.unreadable': error('event passed over'),
  'message.given_up': error('message given up'),
  'message.failed_unforeseen': error('unforeseen failure'),
  'message.not_executed': error(
    'message was the only one in flight at three unclean shutdowns: parked without being executed',
  ),
  'message.not_parked': error('message could not be parked'),
  'dead_letters.not_written': error(
    'dead letters cannot be written; failed messages wait, and their devices with them',
  ),
  'dead_letters.written': info('dead letters are written again'),
  'dead_letter.not_removed': warn('message handled again, but its dead letter, if any, could not be removed'),
  'dead_letters.not_deleted': warn('dead letters cannot be deleted'),
  'dead_letters.not_counted': warn('dead letters cannot be counted; their limits may not hold'),
  'dead_letters.not_tidied': warn('dead letters cannot be tidied up'),

  'backend.call_failed': error('backend call failed'),
  'backend.out': warn('backend is out, calls to it wait'),
  'backend.back': info('backend is back'),
  'backend.access_refused': error('backend refuses our access token'),
  'backend.access_accepted': info('backend accepts our access token'),
  'identity.no_token': warn('the identity gets no token'),
  'identity.token': info('the identity gets tokens again'),
  'token.missing': warn('no access token for the backends'),
  'token.received': info('there is an access token for the backends'),

  'service_endpoint.connected': info('connected to the hub’s service endpoint'),
  'service_endpoint.unreachable': warn('cannot connect to the hub’s service endpoint; replies wait'),
  'service_endpoint.reachable': info('the hub’s service endpoint is reached again'),
  'replies.quota_used_up': error('the hub’s daily quota is used up; replies wait, one is tried each minute'),
  'replies.hub_suspended': error('the hub is suspended; replies wait, one is tried each minute'),
  'replies.accepted': info('the hub takes replies again'),
  'replies.throttled': warn('the hub throttles replies; they are sent more slowly'),
  'replies.full_queue': warn('devices do not fetch their replies, which wait for room in their queues'),
  'replies.unanswered': warn('the hub did not settle a reply in time'),

  'methods.served': info('methods can be invoked; health is served at /livez and /readyz'),
  'methods.aborting': warn('aborting the invocations in progress: the drain time is over'),
  'methods.access_granted': info('the hub grants access to methods'),
  'methods.access_refused': error('the hub refuses access: methods cannot be invoked'),
  'methods.access_granted_again': info('the hub grants access again'),
  'methods.not_accepted': warn('the hub does not accept methods'),
  'methods.accepted': info('the hub accepts methods again'),
  'method.invoked': info('method invoked'),
  'method.not_invoked': info('method not invoked'),
  'method.failed': warn('method not invoked, or its outcome is unknown'),
  'files.unavailable': error('the file storage is unavailable'),
  'http.remark': warnOrError('the HTTP server reports a problem'),

  'traces.exported': info('spans are sent to the collector'),
  'traces.variable_ignored': warn('variable for traces is not used'),
  'traces.not_delivered': warn('spans cannot be delivered to the collector'),
  'traces.dropped': warn('spans are dropped: the collector takes them too slowly'),
} as const;

/** The texts of the lines that can have one of these levels. */
export type LogText<L extends EventLevel = EventLevel> = MessageOf<typeof events, L>;

/** Undefined for a text that is not in the list. */
export const eventOf = eventNames(events);
