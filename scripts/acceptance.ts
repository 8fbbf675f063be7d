import { acceptance } from '../sandbox/live/acceptance.ts';

/** `npm run acceptance` with the variables of `.env`. */
await import('../src/programs/envFile.ts');
const ending = new AbortController();
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => ending.abort());
process.exit(await acceptance(process.argv.slice(2), process.env, process, ending.signal));
