import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { startService } from '../../sandbox/service/process.ts';
import { envelope } from '../../sandbox/stories/wire.ts';
import { withConstants } from '../support/processes.ts';
import { nextAck, sandboxForAll } from './testSandbox.ts';

// Checkpoints are written when the service stops, and not before: a crash then always repeats.
const sandbox = sandboxForAll({ environment: withConstants({ timing: { checkpointSeconds: 3600 } }) });

const anonymous = Buffer.from(
  JSON.stringify({ model: 'svc.device', type: 'sensor', properties: { quantity: 'flow' } }),
);

it('A service that is killed before it wrote a checkpoint handles the message again without a second effect, and gives the reply the same message id', async () => {
  const device = await sandbox.connect('pump-2');
  await device.send(envelope('model.create', 'crash'), anonymous);
  const first = await nextAck(device);
  await sandbox.service?.kill();
  await sandbox.startService();
  const second = await nextAck(device);
  await device.close();

  expect(second.body).toEqual(first.body);
  expect(second.ack.messageId).toBe(first.ack.messageId);
  const created = sandbox.backends
    .calls({ deviceId: 'pump-2' })
    .filter(({ method, path, status }) => method === 'POST' && path.startsWith('/object?') && status === 201);
  expect(new Set(created.map(({ answer }) => answer)).size).toBe(1);
});

it('A service writes nothing but lines of its log, whatever its Node.js finds deprecated', async () => {
  const lines = (await readFile(sandbox.state.service.logFile, 'utf8')).trimEnd().split('\n');
  expect(lines.length).toBeGreaterThan(10);
  for (const line of lines) expect(() => JSON.parse(line), line).not.toThrow();
});

it('A service that does not trust the authority of the hub is not ready, because its connection for replies is verified', async () => {
  await sandbox.service?.stop();
  const { environment, readyzUrl } = sandbox.state.service;
  const { NODE_EXTRA_CA_CERTS: _, ...distrustful } = environment;
  const logFile = join(sandbox.directory, 'distrustful.log');
  const over = new AbortController();
  const { signal } = over;
  const start = startService({ environment: distrustful, readyzUrl, logFile, readyWithinMs: 200_000, signal });
  const refused = expect(start).rejects.toThrow('the test is over');
  await expect.poll(() => readFile(logFile, 'utf8')).toContain('cannot connect to the hub’s service endpoint');
  const answer = await fetch(readyzUrl);
  expect([answer.status, await answer.text()]).toEqual([503, expect.stringContaining('service endpoint')]);
  over.abort(new Error('the test is over'));
  await refused;
});
