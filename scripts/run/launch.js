// @ts-check
/**
 * Runs a program in TypeScript, which Node 20 can't do by itself. The program and what it imports from the project become one file of JavaScript in `dist/run`, unless
 * that file is there and nothing has been written since (D178).
 */
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, statSync } from 'node:fs';
import { join, relative, resolve, sep } from 'node:path';
import { pathToFileURL } from 'node:url';

const project = join(import.meta.dirname, '../..');
const program = programIn(project);
const directory = join(project, 'dist/run', relative(project, program));
const bundle = join(directory, 'main.js');

if (!isCurrent()) {
  try {
    const bundler = join(import.meta.dirname, 'bundle.js');
    execFileSync(process.execPath, [bundler, program, directory], { stdio: ['ignore', 'inherit', 'inherit'] });
  } catch {
    process.exit(1); // it has said why
  }
}
process.argv.splice(1, 2, program);
process.setSourceMapsEnabled(true);
await import(pathToFileURL(bundle).href);

/** @param {string} folder */
function programIn(folder) {
  const [, , file = ''] = process.argv;
  const path = resolve(file);
  if (path.startsWith(folder + sep) && existsSync(path)) return path;
  process.stderr.write(`node scripts/run.js FILE [arguments]\n${JSON.stringify(file)} is no file in ${folder}\n`);
  return process.exit(1);
}

/** Whether every source has the time that the bundle notes in its last line. */
function isCurrent() {
  try {
    const lines = readFileSync(bundle, 'utf8').trimEnd();
    const times = JSON.parse(lines.slice(lines.lastIndexOf('\n') + '//# sources='.length + 1));
    // The sources of another checkout, that this one was copied from, are not its own.
    return program in times && Object.entries(times).every(([source, time]) => statSync(source).mtimeMs === time);
  } catch {
    return false; // there is none yet, or a source has gone
  }
}
