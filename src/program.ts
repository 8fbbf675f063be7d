import type { Message } from './log/events.ts';
import { createLog, type Log } from './log/log.ts';
import { ConfigurationError, settingDocs } from './settings/config.ts';
import { unknownVariables } from './settings/variables.ts';

/** A started program. */
interface Running {
  /** Stops intake, finishes what it can, closes. */
  stop(): Promise<void>;
}

interface Program<S> {
  /** For messages: `The service`. */
  readonly name: string;
  /** @throws ConfigurationError */
  readonly readSettings: () => S;
  readonly start: (settings: S, log: Log) => Promise<Running>;
}

/** Starts a program; stops it on SIGTERM or SIGINT. A second signal ends the process at once. Exits with 1 on errors. */
export async function runProgram<S extends { readonly log: { readonly level: string } }>(
  program: Program<S>,
): Promise<void> {
  const settings = settingsOrExit(program);
  const log = createLog(settings.log.level as Parameters<typeof createLog>[0]);
  process.on('uncaughtException', (error) => endOf(log, error, 'uncaught exception'));
  process.on('unhandledRejection', (error) => endOf(log, error, 'unhandled rejection'));

  const variables = settingDocs().map(({ env }) => env);
  for (const unknown of unknownVariables(process.env, variables))
    log.warn(unknown, 'environment variable is no setting');

  try {
    const running = await program.start(settings, log);
    let stopping = false;
    const stop = (signal: NodeJS.Signals) => {
      if (stopping) process.exit(1);
      stopping = true;
      log.info({ signal }, 'stopping: finishing what is in progress; a second signal ends at once');
      running.stop().then(
        () => process.exit(0),
        (error) => endOf(log, error, 'could not stop cleanly'),
      );
    };
    process.on('SIGTERM', stop);
    process.on('SIGINT', stop);
  } catch (error) {
    endOf(log, error, 'could not start');
  }
}

function settingsOrExit<S>({ name, readSettings }: Program<S>): S {
  try {
    return readSettings();
  } catch (error) {
    if (!(error instanceof ConfigurationError)) throw error;
    process.stderr.write(
      `${name} cannot start with these settings:\n${error.problems.map((problem) => `  - ${problem}\n`).join('')}\n` +
        'docs/settings.md and .env.example list every setting. No IoT hub at hand? `npm run sandbox` starts one on this machine.\n',
    );
    process.exit(1);
  }
}

function endOf(log: Log, error: unknown, what: Message<'fatal'>): never {
  log.fatal({ err: error }, what);
  process.exit(1);
}
