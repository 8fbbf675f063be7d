import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, inject, it, onTestFinished } from 'vitest';
import { startAzurite } from '../../sandbox/methods/azurite.ts';
import { partitionsReadBy } from '../chaos/bounds.ts';
import { check, repeatsIn } from '../chaos/checker.ts';
import type { Instance } from '../chaos/instance.ts';
import { handledBy, recordOutcome } from '../chaos/observe.ts';
import { createRandom } from '../chaos/random.ts';
import { setStage } from '../chaos/stage.ts';
import { connected, createWorkload } from '../chaos/workload.ts';

// A rolling update: one build reads all partitions, the other joins, and the first leaves (D376). What came of every message is
// judged in the end.

const soon = { timeout: 200_000, interval: 100 };
/** By the folder of each build: `dist` is in it. */
const { earlier, present } = inject('builds');

describe.each([
  ['to this build', earlier, present],
  ['back to the earlier build', present, earlier],
])('%s', (_, from, to) => {
  it('nothing is lost, and nothing is done twice', async () => {
    const senders = createWorkload(createRandom(1), 40);
    const messages = senders.flatMap((sender) => sender.messages);
    const ours = messages.filter(({ intent }) => intent.does !== 'nothing' || intent.code !== undefined);
    const directory = mkdtempSync(join(tmpdir(), 'mixed-'));
    const azurite = await startAzurite();
    onTestFinished(azurite.close);
    const stage = await setStage({
      ...{ directory, hubDirectory: join(directory, 'hub'), serviceDirectory: from, guestDirectory: to },
      ...{ instances: 1, realDevices: 0, connected },
      devices: senders.map(({ deviceId }) => deviceId),
      environment: { STORE: 'blob', STORE_CONNECTION_STRING: azurite.connectionString },
      letters: async () => [],
    });
    onTestFinished(stage.close);
    const { guest } = stage;
    const [first] = stage.instances as [Instance];
    const counts = (...instances: Instance[]) =>
      Promise.all(instances.map(async (one) => (await partitionsReadBy(one, Date.now())).size));
    const sendThird = async (number: number) => {
      for (const { messages } of senders) {
        const size = Math.ceil(messages.length / 3);
        for (const one of messages.slice(number * size, (number + 1) * size)) await stage.send(one);
      }
    };

    await expect.poll(() => counts(first), soon).toEqual([4]);
    await sendThird(0);
    await guest.start();
    await expect.poll(() => counts(first, guest), soon).toEqual([2, 2]);
    await sendThird(1);
    await first.stop();
    expect(first.codes).toEqual([0]);
    await expect.poll(() => counts(guest), soon).toEqual([4]);
    await sendThird(2);

    const missing = async () => {
      const handled = new Set((await handledBy(stage)).map(({ id }) => id));
      return ours.flatMap(({ id }) => (handled.has(id) ? [] : [id]));
    };
    await expect.poll(missing, soon).toEqual([]);
    expect(repeatsIn(await handledBy(stage))).toBe(0);
    await guest.stop();
    expect(guest.codes).toEqual([0]);
    expect(check(await recordOutcome(stage, messages, connected))).toEqual([]);
    rmSync(directory, { recursive: true });
  });
});

declare module 'vitest' {
  interface ProvidedContext {
    builds: { readonly earlier: string; readonly present: string };
  }
}
