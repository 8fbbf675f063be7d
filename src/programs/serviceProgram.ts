import { unusableDirectories } from '../operations/writable.ts';
import { ConfigurationError, configDirectory, readSettings } from '../settings/config.ts';
import { usedDirectories } from '../settings/directories.ts';
import { runProgram } from './program.ts';
import { startService } from './service.ts';

/** The service. */

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
