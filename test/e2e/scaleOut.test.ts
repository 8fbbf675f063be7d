import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { buildService } from '../../sandbox/service/build.ts';
import { partitionsReadBy } from '../chaos/bounds.ts';
import { check, repeatsIn } from '../chaos/checker.ts';
import type { Instance } from '../chaos/instance.ts';
import { handledBy, recordOutcome } from '../chaos/observe.ts';
import { createRandom } from '../chaos/random.ts';
import { isOurs, type Stage, setStage } from '../chaos/stage.ts';
import { connected, createWorkload } from '../chaos/workload.ts';
import { type StorageAccount, storageAccount } from '../support/storageAccount.ts';

// The service as processes that share one storage account, while devices send: a third joins and leaves, and one of the
// first two is killed. What came of every message is judged in the end.

const senders = createWorkload(createRandom(1), 60);
const messages = senders.flatMap((sender) => sender.messages);
const ours = messages.filter(isOurs);
const directory = mkdtempSync(join(tmpdir(), 'scale-out-'));
let storage: StorageAccount;
let stage: Stage;
let isWhole = false;

beforeAll(async () => {
  await buildService();
  storage = await storageAccount();
  stage = await setStage({
    ...{ directory, hubDirectory: join(directory, 'hub'), serviceDirectory: process.cwd(), instances: 2 },
    realDevices: 0,
    devices: senders.map(({ deviceId }) => deviceId),
    connected,
    environment: { STORE: 'blob', STORE_CONNECTION_STRING: storage.connectionString },
    letters: async () => [], // nothing fails through the service's side
  });
  stage.backends.faults.add({ backend: 'informationModel', delayMs: 20 }); // so that there is always work in hand
});
afterAll(async () => {
  await stage?.close();
  if (isWhole) rmSync(directory, { recursive: true, force: true });
  else process.stderr.write(`logs of the instances: ${directory}\n`);
});

const counts = async (...instances: Instance[]) =>
  Promise.all(instances.map(async (one) => (await partitionsReadBy(one, Date.now())).size));
const soon = { timeout: 200_000, interval: 100 };

/** Each device its next messages, a fifth of them. */
async function sendFifth(number: number): Promise<void> {
  for (const { messages } of senders) {
    const size = Math.ceil(messages.length / 5);
    for (const one of messages.slice(number * size, (number + 1) * size)) await stage.send(one);
  }
}

it('the history is complete when instances share four partitions, one joins and leaves, and one is killed', async () => {
  const { guest, interruptions } = stage;
  const [first, second] = stage.instances as [Instance, Instance];
  await sendFifth(0);
  await expect.poll(() => counts(first, second), soon).toEqual([2, 2]);

  await sendFifth(1);
  await guest.start();
  await expect.poll(async () => (await counts(first, second, guest)).sort(), soon).toEqual([1, 1, 2]);
  await sendFifth(2);
  await guest.stop();
  expect(guest.codes).toEqual([0]);
  await expect.poll(() => counts(first, second), soon).toEqual([2, 2]);
  await sendFifth(3);
  await expect.poll(async () => (await handledBy(stage)).length, soon).toBeGreaterThan(ours.length * 0.7);
  expect(repeatsIn(await handledBy(stage))).toBe(0);

  await sendFifth(4);
  interruptions.push({ at: Date.now(), of: second });
  await second.kill();
  await expect.poll(() => counts(first), soon).toEqual([4]);
  const missing = async () => {
    const handled = new Set((await handledBy(stage)).map(({ id }) => id));
    return ours.flatMap(({ id }) => (handled.has(id) ? [] : [id]));
  };
  await expect.poll(missing, soon).toEqual([]);
  await first.stop();
  expect(first.codes).toEqual([0]);
  expect(check(await recordOutcome(stage, messages, connected))).toEqual([]);
  isWhole = true;
});
