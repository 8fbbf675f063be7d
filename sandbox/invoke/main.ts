import { invoke } from './invoke.ts';

process.exitCode = await invoke(process.argv.slice(2), process);
