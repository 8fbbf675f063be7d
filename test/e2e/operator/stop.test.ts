import { beforeAll, expect, it } from 'vitest';
import { withConstants } from '../../support/processes.ts';
import { sandboxForAll } from '../testSandbox.ts';
import { createDesk, createSenders, operatorsToken } from './desk.ts';

// A stop follows, and what it leaves and what the next process does a second time are compared with what was foretold.

const sandbox = sandboxForAll({
  environment: {
    ADMIN_TOKEN: operatorsToken,
    DELIVERY_DRAIN_SECONDS: '2',
    BACKENDS_ATTEMPT_TIMEOUT_SECONDS: '100',
    ...withConstants({ timing: { checkpointSeconds: 3600 } }),
  },
});
beforeAll(async () => {
  for (const device of [...finders, 'done', 'stuck']) await (await sandbox.connect(device)).close();
});

const finders = Array.from({ length: 10 }, (_, index) => `finder-${index}`);

it('Is it safe to stop? The preview has the messages in flight, and those that the next reader will find and repeat', async () => {
  const desk = createDesk(sandbox.state.service);
  const senders = createSenders(sandbox);
  const preview = () => desk.ask('/stop-preview');
  const handled = async () => (await desk.log()).filter(({ msg }) => msg === 'handled');
  expect(await preview()).toMatchObject({ isSafe: true, drainAtMostSeconds: 0, total: { inFlight: 0, unstarted: 0 } });

  senders.renewKeys('done', 3, 'none');
  await expect.poll(async () => (await handled()).length).toBe(3);
  expect(await preview()).toMatchObject({ isSafe: true, total: { unwritten: 3, repeated: 0, unfinished: 0 } });

  // One call hangs for longer than a drain. Then the principal manager is out: some messages have begun before it was.
  sandbox.backends.faults.add({ backend: 'informationModel', deviceId: 'stuck', hang: true });
  senders.replaceModels('stuck', 4, 'none');
  await expect.poll(preview).toMatchObject({ isSafe: false, total: { inFlight: 1, held: 1, unstarted: 3 } });
  sandbox.backends.faults.add({ backend: 'principalManager', status: 503 });
  for (const device of finders) senders.renewKeys(device, 2, 'none');
  await expect.poll(() => desk.ask('/backends')).toMatchObject({ principalManager: { circuit: 'open' } });
  const all = 4 + 2 * finders.length;
  await expect.poll(async () => (await preview()).total.unfinished).toBe(all);
  const { isSafe, verdict, total, waitsFor } = await preview();
  const { held } = total;
  expect(held).toBeGreaterThan(1);
  expect(total).toMatchObject({ inFlight: held, unstarted: all - held, unwritten: 3, repeated: held });
  expect(waitsFor).toEqual(
    expect.arrayContaining([
      { what: 'the information model, for longer than a drain takes', messages: 1 },
      { what: 'the end of the outage of the principal manager', messages: held - 1 },
    ]),
  );
  expect([isSafe, verdict]).toEqual([false, expect.stringContaining(`Not yet: ${held} messages would be repeated.`)]);

  await sandbox.service?.stop();
  expect(await sandbox.service?.exited).toMatchObject({ code: 0 });
  const released = (await desk.log()).filter(({ event }) => event === 'partition.released');
  const unfinished = released.reduce((sum, line) => sum + Number(line['unfinished']), 0);
  expect(unfinished).toBe(total.unfinished);
  const begunBefore = new Set(callsOfMessages());

  sandbox.backends.faults.clear();
  const mark = sandbox.backends.journal.last;
  await sandbox.startService();
  await expect.poll(async () => (await handled()).length).toBe(3 + unfinished);
  const begunAfter = new Set(callsOfMessages(mark));
  expect([...begunAfter].filter((message) => begunBefore.has(message))).toHaveLength(total.repeated);
  expect(begunAfter.size).toBe(unfinished);
});

/** The messages for which a backend was called. */
const callsOfMessages = (since?: number) =>
  sandbox.backends
    .calls(since === undefined ? {} : { since })
    .flatMap(({ headers }) => headers['x-correlation-id'] ?? []);
