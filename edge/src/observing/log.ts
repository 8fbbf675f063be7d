import { readFileSync } from 'node:fs';
import {
  createLog as createLogOf,
  type EventLevel,
  error,
  fatal,
  info,
  type LogLevel,
  type Log as LogOf,
  type LogOptions,
  linesDropped,
  type MessageOf,
  warn,
} from '@device-messaging/telemetry/log.ts';
import { partOf } from '../configuration/checks.ts';
import type { Configuration } from '../configuration/read.ts';

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

/** The log of the edge proxy. Each text is in the list of events. */
export type Log = LogOf<typeof events>;

/** @param destination standard output when omitted */
export const createLog = (level: LogLevel, destination?: { write(line: string): void }, options?: LogOptions): Log =>
  createLogOf(events, level, destination, options);

/** The device, or the module of it, as which the proxy connects to the hub. */
export function identityOf({ hub }: Configuration): string {
  const [device = '', module] = ['DeviceId', 'ModuleId'].map((name) => partOf(hub.connectionString, name));
  return module === undefined ? device : `${device}/${module}`;
}

/** Texts that the log must not have. */
export const secretsOf = ({ hub, broker }: Configuration): string[] =>
  [partOf(hub.connectionString, 'SharedAccessKey'), hub.key, broker.password, broker.key].filter(
    (one) => one !== undefined,
  );

/** Of the proxy. */
export const version = (): string =>
  JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')).version;

/** Fields of the first line of the log: what runs, and its configuration without secrets (G5). */
export function startFields(configuration: Configuration, env: NodeJS.ProcessEnv) {
  const { hub, broker, modules, files, limits, health, log } = configuration;
  const { url, username, clientId } = broker;
  return {
    ...{ version: version(), build: env['BUILD_COMMIT'] || 'unknown', node: process.version },
    configuration: {
      hub: { host: partOf(hub.connectionString, 'HostName'), identity: identityOf(configuration) },
      broker: { url, username, clientId, hasPassword: broker.password !== undefined },
      modules: modules.length,
      gateways: modules.filter(({ gateway }) => gateway !== undefined).length,
      files: { hosts: files.hosts, atOnce: files.atOnce },
      ...{ limits, health, log },
    },
  };
}
