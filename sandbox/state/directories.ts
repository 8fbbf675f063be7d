import { join, resolve } from 'node:path';

/** The project's own folder: where `package.json` is, in whichever folder the command was started. */
export const projectDirectory = resolve(import.meta.dirname, '../..');

/** `node` runs with it a program in TypeScript, whose file comes next. */
export const launcher = join(projectDirectory, 'scripts/run.js');

/** Where a sandbox started from the command line keeps everything. Ignored by git: it holds keys. */
export const sandboxDirectory = join(projectDirectory, '.sandbox');

/** Resolves a path that was given on the command line: npm runs scripts in the project's folder, not where it was called. */
export const fromCommandLine = (path: string): string => resolve(process.env['INIT_CWD'] ?? '.', path);
