import { existsSync } from 'node:fs';

/**
 * Adds the variables of `.env` to the environment; existing ones stay. The package's scripts load this before the program.
 * The image and the sandbox do not, so that a file in the working directory cannot change them.
 */
const file = '.env';

if (existsSync(file)) process.loadEnvFile(file);
