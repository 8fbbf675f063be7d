import { beforeAll, expect, it } from 'vitest';
import { withConstants } from '../../support/processes.ts';
import { sandboxForAll } from '../testSandbox.ts';
import { createDesk, createSenders, operatorsToken } from './desk.ts';

// A stop follows, and what it leaves and what the next process does a second time are compared with the sums.

const sandbox = sandboxForAll({
  environment: {
    ...{ ADMIN_TOKEN: operatorsToken, DELIVERY_DRAIN_SECONDS: '2', BACKENDS_ATTEMPT_TIMEOUT_SECONDS: '100' },
    ...withConstants({ timing: { checkpointSeconds: 3600 } }),
  },
});
beforeAll(async () => {
  for (const device of [...finders, 'done', 'stuck']) await (await sandbox.connect(device)).close();
});

const finders = Array.from({ length: 10 }, (_, index) => `finder-${index}`);

it('Is it safe to stop? /partitions has the sums of what the next reader finds, and of what it repeats', async () => {
  const desk = createDesk(sandbox.state.service);
  const senders = createSenders(sandbox);
  const total = async () => (await desk.ask('/partitions')).total;
  const handled = async () => (await desk.log()).filter(({ msg }) => msg === 'handled');
  senders.renewKeys('done', 3, 'none');
  await expect.poll(async () => (await handled()).length).toBe(3);
  expect(await total()).toEqual({ inFlight: 0, waiting: 0, unwritten: 3, failing: 0 });

  // One call hangs for longer than a drain. Then the principal manager is out: some messages have begun before it was.
  sandbox.backends.faults.add({ backend: 'informationModel', deviceId: 'stuck', hang: true });
  senders.replaceModels('stuck', 4, 'none');
  await expect.poll(total).toMatchObject({ inFlight: 1, waiting: 3 });
  sandbox.backends.faults.add({ backend: 'principalManager', status: 503 });
  for (const device of finders) senders.renewKeys(device, 2, 'none');
  await expect.poll(() => desk.ask('/backends')).toMatchObject({ principalManager: { circuit: 'open' } });
  const all = 4 + 2 * finders.length;
  const undone = async () => {
    const { inFlight, waiting } = await total();
    return inFlight + waiting;
  };
  await expect.poll(undone).toBe(all);
  const { inFlight, unwritten, failing } = await total();
  expect(inFlight).toBeGreaterThan(1);
  expect({ unwritten, failing }).toEqual({ unwritten: 3, failing: 0 });

  await sandbox.service?.stop();
  expect(await sandbox.service?.exited).toMatchObject({ code: 0 });
  const released = (await desk.log()).filter(({ event }) => event === 'partition.released');
  const unfinished = released.reduce((sum, line) => sum + Number(line['unfinished']), 0);
  expect(unfinished).toBe(all);
  const begunBefore = new Set(callsOfMessages());

  sandbox.backends.faults.clear();
  const mark = sandbox.backends.journal.last;
  await sandbox.startService();
  await expect.poll(async () => (await handled()).length).toBe(3 + unfinished);
  const begunAfter = new Set(callsOfMessages(mark));
  expect([...begunAfter].filter((message) => begunBefore.has(message))).toHaveLength(inFlight);
  expect(begunAfter.size).toBe(unfinished);
});

const callsOfMessages = (since?: number) =>
  sandbox.backends
    .calls(since === undefined ? {} : { since })
    .flatMap(({ headers }) => headers['x-correlation-id'] ?? []);
