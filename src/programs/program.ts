import { randomBytes } from 'node:crypto';
import { hostname } from 'node:os';
import { logWarnings, switchLevelOnSignal } from '@device-messaging/telemetry/log.ts';
import { preparePlatform } from '../access/network.ts';
import type { LogText } from '../observing/events.ts';
import { createLog, type Log } from '../observing/log.ts';
import type { Traces } from '../observing/observation.ts';
import { openTraces } from '../observing/traces.ts';
import type { MethodsSettings, Settings } from '../settings/config.ts';
import { ConfigurationError, configDirectory, fileEffect, strayVariables } from '../settings/config.ts';
import { thisBuild, versionOfBuild } from '../settings/derived.ts';
import { redactedSettings, secretsOf } from '../settings/secrets.ts';

interface Running {
  stop(): Promise<void>;
  /** Resolves when a new process is to take its place: it is stopped, and ends with `restartCode`. */
  readonly restart?: Promise<void>;
}

/** Of a process that is to be started again (EX_TEMPFAIL). */
const restartCode = 75;

interface Program<S> {
  readonly name: string;
  readonly usage: string;
  /** `service.name` in traces. */
  readonly telemetryName: string;
  readonly readSettings: (env: NodeJS.ProcessEnv, directory: string) => S;
  /** Why it cannot run here with these settings. */
  readonly problems?: (settings: S) => readonly string[];
  /** @param instance tells this process from all others, also in the ownership records */
  readonly start: (settings: S, log: Log, instance: string, traces: Traces | undefined) => Promise<Running>;
}

/** Starts a program; stops it on SIGTERM or SIGINT, or for a restart. A second signal ends the process at once. Exits with 1 on errors. */
export async function runProgram<S extends Settings | MethodsSettings>(program: Program<S>): Promise<void> {
  takeNoArguments(program);
  const settings = settingsOrExit(program);
  const { level, pretty: isPretty } = settings.log;
  // The host, which is the pod or the container, and a number for this start.
  const host = hostname().replace(/[^\w.-]/g, '-');
  const instance = `${host.slice(0, 63)}-${randomBytes(4).toString('hex')}`;
  const ofLog = { instance, secrets: () => secretsOf(settings), isPretty, hasColours: process.stdout.isTTY };
  const log = createLog(level as Parameters<typeof createLog>[0], undefined, ofLog);
  process.on('uncaughtException', (error) => endOf(log, error, 'uncaught exception'));
  process.on('unhandledRejection', (error) => endOf(log, error, 'unhandled rejection'));

  switchLevelOnSignal(process, log);
  logWarnings(process, log);
  const settingsFile = fileEffect(process.env, configDirectory, settings);
  log.info({ ...thisBuild(process.env), settingsFile, settings: redactedSettings(settings) }, 'starting');
  for (const stray of strayVariables(process.env)) log.warn(stray, 'environment variable is no setting');

  try {
    const version = versionOfBuild(process.env);
    const traces = await openTraces(process.env, { service: program.telemetryName, version, instance, log });
    const running = await program.start(settings, log, instance, traces);
    let exitCode: number | undefined;
    const stop = (code: number, fields: object) => {
      const isStopping = exitCode !== undefined;
      exitCode = code;
      if (isStopping) return;
      log.info(fields, 'stopping: finishing what is in progress; a second signal ends at once');
      running.stop().then(
        () => process.exit(exitCode),
        (error) => endOf(log, error, 'could not stop cleanly'),
      );
    };
    let isSignalled = false;
    const onSignal = (signal: NodeJS.Signals) => {
      if (isSignalled) process.exit(1);
      isSignalled = true;
      stop(0, { signal });
    };
    process.on('SIGTERM', onSignal).on('SIGINT', onSignal);
    void running.restart?.then(() => stop(restartCode, {}));
  } catch (error) {
    endOf(log, error, 'could not start');
  }
}

function settingsOrExit<S extends Settings | MethodsSettings>({ name, readSettings, problems }: Program<S>): S {
  try {
    const settings = readSettings(process.env, configDirectory);
    preparePlatform(settings, process.env, problems?.(settings));
    return settings;
  } catch (error) {
    if (!(error instanceof ConfigurationError)) throw error;
    process.stderr.write(
      `${name} cannot start with these settings:\n${error.problems.map((problem) => `  - ${problem}\n`).join('')}\n` +
        'docs/settings.md and .env.example list every setting. No IoT hub at hand? `npm run sandbox` starts one on this machine.\n',
    );
    process.exit(1);
  }
}

function endOf(log: Log, error: unknown, what: LogText<'fatal'>): never {
  log.fatal({ err: error }, what);
  process.exit(1);
}

function takeNoArguments({ name, usage }: Pick<Program<never>, 'name' | 'usage'>): void {
  const [argument] = process.argv.slice(2);
  if (argument === undefined) return;
  if (argument === '--help') {
    process.stdout.write(usage);
    process.exit(0);
  }
  process.stderr.write(
    `${name} takes no argument but --help, not ${JSON.stringify(argument)}: its settings come from the environment (docs/settings.md).\n`,
  );
  process.exit(1);
}
