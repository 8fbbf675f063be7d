import { describe, expect, it, vi } from 'vitest';
import type { Secret } from '../../src/access/secretFiles.ts';
import { createConsumer } from '../../src/hub/reading/consumer.ts';
import { createLog } from '../../src/observing/log.ts';
import { createMemoryStore } from '../../src/stores/fileCheckpoints.ts';
import { hubEvent } from '../support/events.ts';
import { neverCrashing, type ProcessLife } from '../support/processLife.ts';
import { rotatingSecret } from '../support/secretVolume.ts';
import { withFakeTimers } from '../support/waiting.ts';
import { createFakeHub } from './support/fakeHub.ts';
import { storeThrough, usualOpened, usualReading } from './support/reading.ts';
import { standIns } from './support/standIns.ts';

// An orchestrator gives a stop DELIVERY_DRAIN_SECONDS and 30 s more, then it kills.

vi.mock('@azure/event-hubs', async (sdk) => (await import('./support/standIns.ts')).withStandIns(await sdk<object>()));

withFakeTimers();

const drainMs = 5_000;
const parts = ['the hub', 'the store', 'the work on messages'] as const;
type Part = (typeof parts)[number];

/** An instance at work, the parts of whose world can be made to answer no more. */
async function setUp({
  access = 'address' as Secret,
  connects = () => {},
  disconnects = () => {},
  log = usualReading.log,
} = {}) {
  const worlds = Object.fromEntries(parts.map((part) => [part, neverCrashing()])) as Record<Part, ProcessLife>;
  const { 'the hub': hubLife, 'the store': storeLife, 'the work on messages': workLife } = worlds;
  const hub = createFakeHub(['0', '1']);
  standIns.set('address', () => {
    connects();
    const client = hub.client(hubLife);
    return {
      ...client,
      async close() {
        await client.close();
        await new Promise((resolve) => setTimeout(resolve, 50));
        disconnects();
      },
    };
  });
  const consumer = createConsumer({
    ...usualReading,
    ...{ access, log, drainMs, roundMs: 500, balance: { expiryMs: 30_000, forceMs: 40_000 } },
    store: storeThrough(createMemoryStore(), storeLife.step),
    partition: () => ({
      ...usualOpened(10),
      dispatch: () =>
        workLife.step(async () => {
          await new Promise((resolve) => setTimeout(resolve, 300));
          return true;
        }),
      limits: { everyMessages: 1, everyMs: 500 },
    }),
  });
  consumer.start();
  for (const partition of ['0', '1'])
    for (let number = 0; number < 15; number += 1) hub.append(partition, hubEvent({ sequenceNumber: number }));
  await vi.advanceTimersByTimeAsync(1_000);
  return { consumer, worlds };
}

/** How long it takes to stop; undefined when it is not over when the orchestrator kills. */
async function stopMs(consumer: { stop(): Promise<void> }): Promise<number | undefined> {
  const began = Date.now();
  let ms: number | undefined;
  void consumer.stop().then(() => (ms = Date.now() - began));
  await vi.advanceTimersByTimeAsync(drainMs + 30_000);
  return ms;
}

describe('a stop', () => {
  it('takes no longer than the messages in progress, when everything answers', async () => {
    const { consumer } = await setUp();
    expect(await stopMs(consumer)).toBeLessThan(400);
  });

  it('leaves no timer and no connection, and connects no more when the key changes', async () => {
    let [clients, connections] = [0, 0];
    const { secret, change } = rotatingSecret('address');
    const { consumer } = await setUp({
      access: secret,
      connects() {
        clients += 1;
        connections += 1;
      },
      disconnects() {
        connections -= 1;
      },
    });
    expect(clients).toBe(1);
    change();
    expect(clients).toBe(2);
    await vi.advanceTimersByTimeAsync(50);
    expect(connections).toBe(1);
    let left: number | undefined;
    void consumer.stop().then(() => (left = connections));
    await vi.advanceTimersByTimeAsync(drainMs);
    expect(left).toBe(0);
    change();
    expect([clients, vi.getTimerCount()]).toEqual([2, 0]);
  });

  it('leaves nothing that a standstill could end', async () => {
    const lines: string[] = [];
    const { consumer } = await setUp({ log: createLog('warn', { write: (line) => lines.push(line) }) });
    await stopMs(consumer);
    consumer.stoodStill(60_000);
    expect(lines).toEqual([]);
  });

  // At each time within a round and a checkpoint: what hangs then, hangs in another place.
  const moments = [0, 100, 200, 290, 300, 400, 490, 500, 510, 1_200, 2_500];
  it.each([...parts.map((part) => [part, [part]] as const), ['everything', parts] as const])(
    'ends within its drain and 20 s although %s answers no more',
    async (_name, silent) => {
      for (const moment of moments) {
        const { consumer, worlds } = await setUp();
        for (const part of silent) worlds[part].kill();
        await vi.advanceTimersByTimeAsync(moment);
        expect(await stopMs(consumer), `silent for ${moment} ms`).toBeLessThan(drainMs + 20_000);
        vi.clearAllTimers();
      }
    },
  );
});
