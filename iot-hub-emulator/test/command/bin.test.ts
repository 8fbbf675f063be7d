import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { execFile } from '../../../sandbox/service/endWithUs.ts';
import { help } from '../../src/command/options.ts';

const run = promisify(execFile);

test('the package’s command runs the built program', async () => {
  await run('npm', ['run', 'build', '--workspace', 'iot-hub-emulator']);
  const { stdout } = await run('npx', ['iot-hub-emulator', '--help']);
  expect(stdout).toBe(`${help}\n`);
});
