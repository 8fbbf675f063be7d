import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { freePort } from '../../sandbox/service/freePort.ts';
import { type ServiceProcess, startService } from '../../sandbox/service/process.ts';
import { envelope } from '../../sandbox/stories/wire.ts';
import { withConstants } from '../support/processes.ts';
import { deviceForAll, linesIn, nextAck, sandboxForAll } from './testSandbox.ts';

// By mistake a second process is started with the data folder of the first.

const sandbox = sandboxForAll({ environment: withConstants({ timing: { expirySeconds: 3 } }) });
const device = deviceForAll(sandbox);
let second: ServiceProcess | undefined;
afterAll(() => second?.kill());

const secondLog = () => join(sandbox.directory, 'second.log');

/** The correlation ids of the messages that a process has handled. */
const handledIn = (logFile: string) =>
  linesIn(logFile).flatMap(({ msg, correlationId }) => (msg === 'handled' ? correlationId : []));

async function renewKey(id: string): Promise<void> {
  await device.send(envelope('identity.update', id), Buffer.from(JSON.stringify({ publicKey: id })));
  // A process that takes partitions over repeats what no checkpoint has.
  while ((await nextAck(device)).ack.properties['correlationId'] !== id);
}

it('A second process in the same folder takes the partitions, and when it is killed, the first one is to be restarted', async () => {
  await renewKey('before');
  const [port, adminPort] = [await freePort(), await freePort()].map(String) as [string, string];
  second = await startService({
    environment: { ...sandbox.state.service.environment, HTTP_PORT: port, ADMIN_PORT: adminPort },
    readyzUrl: `http://127.0.0.1:${port}/readyz`,
    logFile: secondLog(),
  });
  await renewKey('meanwhile');
  await expect.poll(() => handledIn(secondLog())).toContain('meanwhile');
  const isReady = async () => (await fetch(sandbox.state.service.readyzUrl)).status;
  await expect.poll(isReady).toBe(503);

  const said = () => linesIn(sandbox.state.service.logFile).map((line) => JSON.stringify(line));
  await expect.poll(said).toContainEqual(expect.stringContaining('when that one has gone, restart this one'));

  await second.kill();
  await sandbox.service?.stop();
  await sandbox.startService();
  await renewKey('afterwards');
  const { logFile } = sandbox.state.service;
  await expect.poll(() => handledIn(logFile)).toContain('afterwards');
  expect(handledIn(logFile)[0]).toBe('before');
  await expect.poll(isReady).toBe(200);
});
