import { join } from 'node:path';
import { expect, it } from 'vitest';
import { folderForEach } from '../../iot-hub-emulator/test/support/fixtures.ts';
import { freePort } from '../../sandbox/service/freePort.ts';
import { startService } from '../../sandbox/service/process.ts';

const directory = folderForEach('process');

/** A service that ends with the next of these codes at each start, and is ready when none is left. */
async function ending(...codes: number[]) {
  const port = await freePort();
  const script = `
    const { appendFileSync, readFileSync } = require('node:fs');
    appendFileSync('starts', '.');
    const code = ${JSON.stringify(codes)}[readFileSync('starts', 'utf8').length - 1];
    if (code !== undefined) process.exit(code);
    require('node:http').createServer((_, answer) => answer.end()).listen(${port}, '127.0.0.1');`;
  const readyzUrl = `http://127.0.0.1:${port}/readyz`;
  const files = { directory, logFile: join(directory, 'service.log') };
  return startService({ ...files, command: ['node', '-e', script], environment: {}, readyzUrl });
}

it('a service that ends before it is ready because it is to be started again is started again', async () => {
  const service = await ending(75, 75);
  await service.kill();
  expect((await service.exited).signal).toBe('SIGKILL');
});

it('a service that ends before it is ready for another reason has failed', async () => {
  await expect(ending(75, 70)).rejects.toThrow('The service ended before it was ready: exit code 70.');
});
