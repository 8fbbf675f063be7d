import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { freePort } from '../../../sandbox/service/freePort.ts';
import { type ServiceProcess, startService } from '../../../sandbox/service/process.ts';
import { withConstants } from '../../support/processes.ts';
import { storageAccount } from '../../support/storageAccount.ts';
import { startTestSandbox, type TestSandbox } from '../testSandbox.ts';
import { createDesk, createSenders, operatorsToken } from './desk.ts';

// Two instances share the partitions of one hub.

let sandbox: TestSandbox;
let second: ServiceProcess;
let desks: readonly ReturnType<typeof createDesk>[];
beforeAll(async () => {
  const storage = await storageAccount();
  sandbox = await startTestSandbox({
    environment: {
      ...{ ADMIN_TOKEN: operatorsToken, STORE: 'blob', STORE_CONNECTION_STRING: storage.connectionString },
      ...withConstants({ timing: { expirySeconds: 6, checkpointSeconds: 1 } }),
    },
  });
  const [port, adminPort] = [await freePort(), await freePort()].map(String) as [string, string];
  const addresses = {
    adminUrl: `http://127.0.0.1:${adminPort}`,
    readyzUrl: `http://127.0.0.1:${port}/readyz`,
    logFile: join(sandbox.directory, 'second.log'),
  };
  const own = { HTTP_PORT: port, ADMIN_PORT: adminPort, DATA_DIRECTORY: join(sandbox.directory, 'second') };
  second = await startService({ ...addresses, environment: { ...sandbox.state.service.environment, ...own } });
  desks = [sandbox.state.service, addresses].map(createDesk);
});
afterAll(async () => {
  await second?.stop();
  await sandbox?.close();
});

interface Shown {
  readonly instance: string;
  readonly partitions: readonly { readonly partition: string }[];
  readonly elsewhere: readonly { readonly partition: string; readonly owner: string }[];
}

const shown = (): Promise<Shown[]> => Promise.all(desks.map((desk) => desk.ask('/partitions')));

it('Which instance spoke? Log, metrics and admin port name it, and each admin port names the owners of the other partitions', async () => {
  const all = sandbox.hub.partitions.map(({ id }) => String(id)).sort();
  const idsOf = (places: readonly { readonly partition: string }[]) => places.map(({ partition }) => partition).sort();
  // Each reads half, and says that the other half is the other one's.
  await expect
    .poll(async () => {
      const [one, other] = (await shown()) as [Shown, Shown];
      return [one, other].map(({ partitions, elsewhere }, index) => ({
        half: partitions.length * 2 === all.length,
        whole: [...idsOf(partitions), ...idsOf(elsewhere)].sort(),
        others: elsewhere.every(({ owner }) => owner === (index === 0 ? other : one).instance),
      }));
    })
    .toEqual([0, 1].map(() => ({ half: true, whole: all, others: true })));

  const senders = createSenders(sandbox);
  for (const partition of all) {
    await (await sandbox.connect(`pump-${partition}`)).close();
    senders.renewKeys(`pump-${partition}`, 1, 'none', Number(partition));
  }
  for (const [index, { instance, partitions }] of (await shown()).entries()) {
    const desk = desks[index] as ReturnType<typeof createDesk>;
    const handled = async () => (await desk.log()).filter(({ msg }) => msg === 'handled');
    await expect.poll(async () => (await handled()).length).toBe(partitions.length);
    for (const line of await handled()) {
      expect(line).toMatchObject({ instance, device: `pump-${line['partition']}` });
      expect(idsOf(partitions)).toContain(line['partition']);
    }
    expect(await desk.metric('device_messaging_handled_messages_total')).toBe(partitions.length);
    expect(await desk.metric('target_info', { service_instance_id: instance })).toBe(1);
  }
});
