import { join } from 'node:path';
import { ContainerClient } from '@azure/storage-blob';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { freePort } from '../../../sandbox/service/freePort.ts';
import { type ServiceProcess, startService } from '../../../sandbox/service/process.ts';
import { withConstants } from '../../support/processes.ts';
import { type StorageAccount, storageAccount } from '../../support/storageAccount.ts';
import { startTestSandbox, type TestSandbox } from '../testSandbox.ts';
import { createAsking } from './asking.ts';
import { type Addresses, createDesk, createSenders, operatorsToken } from './desk.ts';
import { tableRows } from './table.ts';

// Two instances share the partitions of one hub.

let storage: StorageAccount;
let sandbox: TestSandbox;
let second: ServiceProcess;
let addressesOf: readonly Addresses[];
let desks: readonly ReturnType<typeof createDesk>[];
beforeAll(async () => {
  storage = await storageAccount();
  sandbox = await startTestSandbox({
    environment: {
      ADMIN_TOKEN: operatorsToken,
      STORE: 'blob',
      STORE_CONNECTION_STRING: storage.connectionString,
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
  addressesOf = [sandbox.state.service, addresses];
  desks = addressesOf.map(createDesk);
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

it('Which instance spoke? Log, metrics and admin port name it, and each admin port names the owners of the other partitions', async () => {
  const all = sandbox.hub.partitions.map(({ id }) => String(id)).sort();
  const shown = (): Promise<Shown[]> => Promise.all(desks.map((desk) => desk.ask('/partitions')));
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

it('How far behind is a partition that no instance reads? Every instance reports it, by the first event after its checkpoint', async () => {
  const partition = '3';
  const blobs = new ContainerClient(storage.connectionString, 'checkpoints');
  const name = (await namesIn(blobs)).find((one) => one.endsWith(`/ownership/${partition}`)) ?? '';
  const record = blobs.getBlobClient(name);
  const checkpoint = blobs.getBlobClient(record.name.replace('/ownership/', '/checkpoint/'));
  const log = sandbox.hub.partitions[Number(partition)] as TestSandbox['hub']['partitions'][number];
  const checkpointed = async () =>
    (await checkpoint.exists()) ? Number((await checkpoint.getProperties()).metadata?.['sequencenumber']) : undefined;
  await expect.poll(checkpointed).toBe(log.next() - 1);

  // Only the holder of the lease may change the record now: it has no owner, and nobody can take it.
  const { leaseId = '' } = await record.getBlobLeaseClient().acquireLease(-1);
  const { metadata = {} } = await record.getProperties();
  await record.setMetadata({ ...metadata, ownerid: '' }, { conditions: { leaseId } });
  const unowned = () => Promise.all(desks.map(async (desk) => (await desk.ask('/partitions')).unowned));
  const nothing = { partition, behindSeconds: 0, asOf: expect.any(String) };
  await expect.poll(unowned).toEqual([[nothing], [nothing]]);

  const [row] = tableRows().filter(({ question }) => question === 'How far behind are we?');
  if (row === undefined) throw new Error('the table asks how far behind we are');
  const senders = createSenders(sandbox);
  const from = Date.now();
  senders.renewKeys(`pump-${partition}`, 1, 'none', Number(partition));
  const to = Date.now();
  await expect.poll(async () => (await unowned()).every(([one]) => one.behindSeconds > 0)).toBe(true);
  senders.renewKeys(`pump-${partition}`, 4, 'none', Number(partition)); // later ones count for nothing
  for (const [index, desk] of desks.entries()) {
    const asking = createAsking(addressesOf[index] as Addresses, desk);
    const answers = await asking.answer([row], { since: from, before: [], follow: { act: async () => {}, until: '' } });
    const [shown, graph] = answers.get(row) ?? [];
    const told = [
      [shown, JSON.parse(shown?.output ?? '').unowned[0].behindSeconds],
      [graph, graph?.values.get(partition)],
    ] as const;
    for (const [answer, seconds] of told) {
      expect(seconds).toBeGreaterThanOrEqual(((answer?.from ?? 0) - to) / 1000 - 0.06); // rounded
      expect(seconds).toBeLessThanOrEqual(((answer?.to ?? 0) - from) / 1000 + 0.06);
    }
  }

  await record.getBlobLeaseClient(leaseId).releaseLease();
  await expect.poll(unowned).toEqual([[], []]);
  await expect.poll(checkpointed).toBe(log.next() - 1);
});

async function namesIn(blobs: ContainerClient): Promise<string[]> {
  const names: string[] = [];
  for await (const { name } of blobs.listBlobsFlat()) names.push(name);
  return names;
}
