import {
  type EventLevel,
  error,
  fatal,
  info,
  linesDropped,
  type MessageOf,
  warn,
} from '@device-messaging/telemetry/log.ts';

/**
 * The lines of the log: a closed list. The names are an interface: operators look for them. `docs/log-events.md` says what
 * causes each, and what to do.
 */
export const events = {
  'program.starting': info('starting'),
  'program.started': info('started; health is served at /livez and /readyz'),
  'program.not_started': fatal('start failed'),
  'program.stopping': info('stopping: finishing the invocations in progress; a second signal exits at once'),
  'program.aborting': warn('aborting the invocations in progress: the drain time is over'),
  'program.stopped': info('stopped'),
  'program.not_stopped_cleanly': fatal('stop failed'),
  'program.uncaught_exception': fatal('uncaught exception'),
  'program.unhandled_rejection': fatal('unhandled rejection'),
  'log.level_changed': info('log level changed'),
  'log.lines_dropped': linesDropped,
  'configuration.taken': info('the configuration was read again and is in effect'),
  'configuration.refused': error('the changed configuration is refused, and the last good one stays in effect'),
  'configuration.restart_needed': warn('changed settings take effect at the next start only'),
  'hub.connected': info('connected to the hub'),
  'hub.waiting': warn('waiting for the hub'),
  'hub.unstable': error(
    'the hub closes each connection soon after it opens: does another program use the identity of this proxy?',
  ),
  'hub.method_refused': warn('a direct method other than invokeMethod was refused'),
  'hub.response_lost': warn('a response did not reach the hub'),
  'broker.connected': info('connected to the broker'),
  'broker.waiting': warn('waiting for the broker'),
  'broker.unstable': error(
    'the broker closes each connection soon after it opens: does another program use the same client id?',
  ),
  'broker.subscription_refused': error('the broker refuses the subscription to replies: see its access rules'),
  'module.folder_unusable': error('the folder of a module cannot be used: its methods with files cannot be invoked'),
  'module.replies_unknown': warn('replies dropped: late, repeated, or to a request that this module did not get'),
  'module.replies_retained': warn('replies dropped: retained at the broker from an earlier time'),
  'method.invoked': info('method invoked'),
  'method.not_invoked': info('method not invoked'),
  'method.failed': warn('method not invoked, or its outcome is unknown'),
  'method.failed_unforeseen': error('unforeseen failure'),
} as const;

/** The texts of the lines of a level. */
export type LogText<L extends EventLevel = EventLevel> = MessageOf<typeof events, L>;
