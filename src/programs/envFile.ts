import { existsSync, readFileSync } from 'node:fs';
import { readEnvFile } from '../settings/config.ts';

/**
 * Adds the variables of `.env` to the environment; existing ones stay. The package's scripts load this before the program.
 * The image and the sandbox do not, so that a file in the working directory cannot change them.
 */
const file = '.env';

if (existsSync(file)) {
  const { variables, problems } = readEnvFile(readFileSync(file, 'utf8'));
  if (problems.length > 0) {
    process.stderr.write(`${file} cannot be used:\n${problems.map((problem) => `  - ${problem}\n`).join('')}`);
    process.exit(1);
  }
  for (const [name, value] of Object.entries(variables)) process.env[name] ??= value;
}
