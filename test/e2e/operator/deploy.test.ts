import { beforeAll, expect, it } from 'vitest';
import { sandboxForAll } from '../testSandbox.ts';
import { createDesk, createSenders, operatorsToken } from './desk.ts';

// A deploy whose build brings a failure with it: here a backend that has begun to refuse.

const sandbox = sandboxForAll({ environment: { ADMIN_TOKEN: operatorsToken, BUILD_COMMIT: 'aaa1111' } });
beforeAll(async () => void (await (await sandbox.connect('pump-1')).close()));

it('What did the last deploy change? The log has the builds, and the metrics the results by build', async () => {
  const desk = createDesk(sandbox.state.service);
  const senders = createSenders(sandbox);
  const starts = async () => (await desk.log()).filter(({ event }) => event === 'program.started');
  const results = async (build: string, code: string) => ({
    messages: await desk.metric('device_messaging_handled_messages_total', { device_messaging_code: code }),
    isOfBuild: (await desk.metric('target_info', { service_version: `${version}+${build}` })) === 1,
  });
  await expect.poll(async () => (await starts()).length).toBe(1);
  const [{ version } = {}] = await starts();
  senders.renewKeys('pump-1', 1, 'none');
  await expect.poll(() => results('aaa1111', 'ok')).toEqual({ messages: 1, isOfBuild: true });

  await sandbox.service?.stop();
  Object.assign(sandbox.state.service.environment, { BUILD_COMMIT: 'bbb2222' });
  sandbox.backends.faults.add({ backend: 'principalManager', method: 'PUT', status: 501 });
  await sandbox.startService();
  senders.renewKeys('pump-1', 2, 'none');
  await expect.poll(() => results('bbb2222', 'internal_platform_error')).toEqual({ messages: 2, isOfBuild: true });

  const lines = await starts();
  expect(lines.map(({ build }) => build)).toEqual(['aaa1111', 'bbb2222']);
  expect(new Set(lines.map(({ instance }) => instance)).size).toBe(2);
});
