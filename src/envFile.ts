import { existsSync } from 'node:fs';

/**
 * Adds what `.env` says to the environment; what is set already stays. For people: the package's scripts load this before the
 * program. The image and the sandbox do not, so that what lies about in a folder changes neither.
 */
const file = '.env';

if (existsSync(file)) process.loadEnvFile(file);
