import { readFileSync } from 'node:fs';
import { serviceCommand } from '../../../sandbox/service/process.ts';

const set = readFileSync(new URL('../../../src/programs/main.ts', import.meta.url), 'utf8');

/** The service's settings of V8, for a program that is compared with it: those of its command, and those it sets itself. */
export const serviceV8: readonly string[] = [
  ...serviceCommand.filter((part) => part.startsWith('--')),
  ...[...set.matchAll(/^setFlagsFromString\('(.+)'\)/gm)].map(([, flag = '']) => flag),
];
