#!/usr/bin/env node
// @ts-check
/** The command of the package: it runs what the build makes of `src`. In this project, `npm run hub` does the same without a build. */
import './nodeVersion.js';
import { existsSync } from 'node:fs';

const program = new URL('../dist/command/main.js', import.meta.url);
if (existsSync(program)) await import(program.href);
else {
  process.stderr.write('There is no build of it yet: npm run build --workspace iot-hub-emulator\n');
  process.exitCode = 1;
}
