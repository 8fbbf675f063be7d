import { setFlagsFromString } from 'node:v8';
import { unusableDirectories } from './operations/writable.ts';
import { runProgram } from './program.ts';
import { startService } from './service.ts';
import { ConfigurationError, configDirectory, readSettings } from './settings/config.ts';
import { usedDirectories } from './settings/directories.ts';

/** The service. */

// A message lives as long as its backends take: long enough to count as old. Left alone, V8 lets such garbage grow to four
// times of what is alive before it looks at it; with this a backlog takes two thirds of the memory, at no measurable cost.
setFlagsFromString('--heap-growing-percent=60');

await runProgram({
  name: 'The service',
  readSettings() {
    const settings = readSettings(process.env, configDirectory);
    const problems = unusableDirectories(usedDirectories(settings));
    if (problems.length > 0) throw new ConfigurationError(problems);
    return settings;
  },
  start: startService,
  finishing: 'the messages in work',
});
