import { setFlagsFromString } from 'node:v8';
import { ConfigurationError, configDirectory, readSettings, type Settings, settingDocs } from './config.ts';
import { createLog, type Log } from './log.ts';
import { unusableDirectories } from './operations/writable.ts';
import { startService } from './service.ts';
import { usedDirectories } from './settings/directories.ts';
import { unknownVariables } from './settings/variables.ts';

/** Starts the service; stops it on SIGTERM or SIGINT, at once on a second one. */

// A message lives as long as its backends take: long enough to count as old. Left alone, V8 lets such garbage grow to four
// times of what is alive before it looks at it; with this a backlog takes two thirds of the memory, at no measurable cost.
setFlagsFromString('--heap-growing-percent=60');

const settings = settingsOrExit();
const log = createLog(settings.log.level as Parameters<typeof createLog>[0]);
process.on('uncaughtException', (error) => endOf(log, error, 'uncaught exception'));
process.on('unhandledRejection', (error) => endOf(log, error, 'unhandled rejection'));

const variables = settingDocs().map(({ env }) => env);
for (const unknown of unknownVariables(process.env, variables)) log.warn(unknown, 'environment variable is no setting');

try {
  const service = await startService(settings, log);
  let stopping = false;
  const stop = (signal: NodeJS.Signals) => {
    if (stopping) process.exit(1);
    stopping = true;
    log.info({ signal }, 'stopping: finishing the messages in work; a second signal ends at once');
    service.stop().then(
      () => process.exit(0),
      (error) => endOf(log, error, 'could not stop cleanly'),
    );
  };
  process.on('SIGTERM', stop);
  process.on('SIGINT', stop);
} catch (error) {
  endOf(log, error, 'could not start');
}

function settingsOrExit(): Settings {
  try {
    const settings = readSettings(process.env, configDirectory);
    const problems = unusableDirectories(usedDirectories(settings));
    if (problems.length > 0) throw new ConfigurationError(problems);
    return settings;
  } catch (error) {
    if (!(error instanceof ConfigurationError)) throw error;
    process.stderr.write(
      `The service cannot start with these settings:\n${error.problems.map((problem) => `  - ${problem}\n`).join('')}\n` +
        'README.md and .env.example list every setting. No IoT hub at hand? `npm run sandbox` starts one on this machine.\n',
    );
    process.exit(1);
  }
}

function endOf(log: Log, error: unknown, what: string): never {
  log.fatal({ err: error }, what);
  process.exit(1);
}
