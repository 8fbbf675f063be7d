// @ts-check
/** `node scripts/run.js FILE [arguments]` runs a program of this project that is written in TypeScript. */
import './run/nodeVersion.js';

await import('./run/launch.js');
