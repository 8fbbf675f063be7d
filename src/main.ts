import { setFlagsFromString } from 'node:v8';
import { unusableDirectories } from './operations/writable.ts';
import { runProgram } from './program.ts';
import { startService } from './service.ts';
import { ConfigurationError, configDirectory, readSettings } from './settings/config.ts';
import { usedDirectories } from './settings/directories.ts';

/** The service. */

// Messages live as long as their backend calls, so that V8 moves them to the old generation. By default V8 collects it only
// at four times its live size; with this setting a backlog takes a third less memory, at no measurable cost.
setFlagsFromString('--heap-growing-percent=60');

await runProgram({
  name: 'The service',
  telemetryName: 'device-messaging',
  readSettings() {
    const settings = readSettings(process.env, configDirectory);
    const problems = unusableDirectories(usedDirectories(settings));
    if (problems.length > 0) throw new ConfigurationError(problems);
    return settings;
  },
  start: startService,
});
