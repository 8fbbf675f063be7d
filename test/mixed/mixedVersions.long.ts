import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, inject, it, onTestFinished } from 'vitest';
import { startAzurite } from '../../sandbox/methods/azurite.ts';
import { partitionsReadBy } from '../chaos/bounds.ts';
import { check, repeatsIn } from '../chaos/checker.ts';
import { withFatal } from '../chaos/fatal.ts';
import type { Instance } from '../chaos/instance.ts';
import { handledBy, recordOutcome } from '../chaos/observe.ts';
import { createRandom } from '../chaos/random.ts';
import type { Message } from '../chaos/sealed.ts';
import { isOurs, type Stage, setStage } from '../chaos/stage.ts';
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

    await expect.poll(() => missing(stage, messages), soon).toEqual([]);
    expect(repeatsIn(await handledBy(stage))).toBe(0);
    await guest.stop();
    expect(guest.codes).toEqual([0]);
    expect(check(await recordOutcome(stage, messages, connected))).toEqual([]);
    rmSync(directory, { recursive: true });
  });

  it('takes over the data directory of one that a message has ended and that was killed, with its crash record', async () => {
    const random = createRandom(2);
    const senders = withFatal(createWorkload(random, 20), 1, random);
    const messages = senders.flatMap((sender) => sender.messages);
    const directory = mkdtempSync(join(tmpdir(), 'mixed-'));
    const data = join(directory, 'data');
    const textsIn = (name: string) =>
      (existsSync(join(data, name)) ? readdirSync(join(data, name), { recursive: true, encoding: 'utf8' }) : [])
        .filter((path) => path.endsWith('.json'))
        .map((path) => readFileSync(join(data, name, path), 'utf8'));
    const stage = await setStage({
      ...{ directory, hubDirectory: join(directory, 'hub'), serviceDirectory: from, guestDirectory: to },
      ...{ instances: 1, realDevices: 0, connected },
      devices: senders.map(({ deviceId }) => deviceId),
      environment: { DATA_DIRECTORY: data },
      letters: async () => textsIn('dead-letters').map((text) => JSON.parse(text)),
    });
    onTestFinished(stage.close);
    const [first] = stage.instances as [Instance];
    for (const one of messages) await stage.send(one);
    await expect.poll(() => stage.fatalEnds.length, soon).toBeGreaterThan(0);
    await first.kill();
    expect(textsIn('checkpoints').join('')).toContain('"note":"2 ');
    expect(existsSync(join(data, 'spool'))).toBe(from === earlier); // where the last release kept what waited
    await stage.guest.start();
    await expect.poll(() => missing(stage, messages), soon).toEqual([]);
    await stage.guest.stop();
    expect(stage.guest.codes).toEqual([0]);
    expect(check(await recordOutcome(stage, messages, connected))).toEqual([]);
    rmSync(directory, { recursive: true });
  });
});

async function missing(stage: Stage, messages: readonly Message[]): Promise<string[]> {
  const handled = new Set((await handledBy(stage)).map(({ id }) => id));
  return messages.filter(isOurs).flatMap(({ id }) => (handled.has(id) ? [] : [id]));
}

declare module 'vitest' {
  interface ProvidedContext {
    builds: { readonly earlier: string; readonly present: string };
  }
}
