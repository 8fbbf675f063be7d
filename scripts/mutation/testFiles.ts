import { readFileSync } from 'node:fs';
import { filesBelow, reachedFrom } from '../../test/support/imports.ts';
import type { Room } from './rooms.ts';

/** Of how much work there is: counting which lines a test reaches is work, too. */
const isOfCost = (file: string): boolean => /cost\.test\.ts$/i.test(file);

/** What a quick test does not load: whole programs, what starts processes, and a client that fails in the background later. */
const slow = [/^src\/programs\//, /^sandbox\/service\/endWithUs\.ts$/, /^azure-iot-device-amqp$/];

/** The quick tests of a room that load one of its files. Those that put something else in the place of a module would disturb the others. */
export const testFilesOf = ({ tests, isQuick = false, long = [] }: Room, files: readonly string[]): string[] =>
  tests
    .flatMap((path) => (path.endsWith('.ts') ? path : filesBelow(path)))
    .filter((file) => file.endsWith('.test.ts') && !isOfCost(file) && !long.includes(file))
    .filter((file) => {
      const reached = reachedFrom(file);
      const isSlow = !isQuick && [...reached].some((one) => slow.some((name) => name.test(one)));
      return !isSlow && files.some((one) => reached.has(one)) && !/\bvi\.(do)?mock\(/i.test(readFileSync(file, 'utf8'));
    });
