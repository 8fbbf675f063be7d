import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { envelope } from '../../sandbox/stories/wire.ts';
import { withConstants } from '../support/processes.ts';
import { deviceForAll, sandboxForAll } from './testSandbox.ts';

const sandbox = sandboxForAll({ environment: withConstants({ timing: { expirySeconds: 3 } }) });
const device = deviceForAll(sandbox);

const calls = () => sandbox.backends.calls().filter(({ headers }) => headers['x-correlation-id'] === 'paused');
const lines = (msg: string) =>
  readFileSync(sandbox.state.service.logFile, 'utf8')
    .split('\n')
    .filter((line) => line.includes(`"msg":"${msg}`))
    .map((line) => JSON.parse(line));

it('A service that stood still makes no more calls for a message in progress, and begins it again', async () => {
  sandbox.backends.faults.add({ backend: 'principalManager', method: 'GET', delayMs: 1_000, times: 1 });
  await device.send(envelope('identity.update', 'paused'), Buffer.from(JSON.stringify({ publicKey: 'key' })));
  await expect.poll(() => calls().length).toBe(1);
  const { pid } = sandbox.service ?? { pid: 2 ** 30 };
  process.kill(pid, 'SIGSTOP');
  await expect.poll(() => calls()[0]?.status).toBe(200); // the answer waits for the process
  await sleep(2_000); // longer than half of the expiry
  process.kill(pid, 'SIGCONT');

  expect((await device.next(120_000))?.properties['correlationId']).toBe('paused');
  await expect.poll(() => lines('handled')).toHaveLength(1);
  expect(lines('this process stood still')).toMatchObject([
    { event: 'partitions.stood_still', processPauseMs: expect.any(Number), partitions: expect.any(Array) },
  ]);
  const traces = [...new Set(calls().map(({ headers }) => headers['traceparent']))];
  const methods = traces.map((trace) =>
    calls()
      .filter(({ headers }) => headers['traceparent'] === trace)
      .map(({ method }) => method),
  );
  expect(methods).toEqual([['GET'], ['GET', 'PUT']]);
});
