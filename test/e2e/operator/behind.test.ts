import { beforeAll, expect, it } from 'vitest';
import { withConstants } from '../../support/processes.ts';
import { sandboxForAll } from '../testSandbox.ts';
import { createDesk, createSenders, operatorsToken } from './desk.ts';

// More messages than there is room for, while a backend hangs.

const sandbox = sandboxForAll({
  environment: {
    ADMIN_TOKEN: operatorsToken,
    DELIVERY_MAX_MESSAGES: '10',
    ...withConstants({ backlogLimits: { maxMessages: 40 } }),
  },
});
beforeAll(async () => void (await (await sandbox.connect('pump-1')).close()));

it('How far behind are we? By the age of the oldest unfinished event, even if all events have been read', async () => {
  const desk = createDesk(sandbox.state.service);
  const count = 100;
  sandbox.backends.faults.add({ backend: 'principalManager', hang: true });
  createSenders(sandbox).renewKeys('pump-1', count, 'none');
  const first = async () => {
    const { partitions } = await desk.ask('/partitions');
    return partitions.find((one: { partition: string }) => one.partition === '0');
  };
  await expect.poll(async () => (await first())?.behindSeconds).toBeGreaterThan(1);
  const { position, behindSeconds, inFlight, waiting, oldest } = await first();
  expect(inFlight + waiting).toBe(position + 1 - oldest.sequenceNumber);
  expect(behindSeconds).toBeGreaterThanOrEqual(oldest.seconds - 0.1); // rounded, and read after the hub received it
  const partition = { messaging_destination_partition_id: '0' };
  expect(await desk.metric('device_messaging_partition_behind_duration', partition)).toBeGreaterThanOrEqual(
    behindSeconds - 0.1,
  );
  await expect.poll(() => desk.metric('device_messaging_partition_behind_age', partition)).toBeGreaterThanOrEqual(0);
  expect(await desk.isAlive()).toBe(true);

  sandbox.backends.faults.clear();
  await expect.poll(async () => (await first())?.behindSeconds).toBe(0);
  await expect.poll(() => desk.metric('device_messaging_handled_messages_total')).toBe(count);
});
