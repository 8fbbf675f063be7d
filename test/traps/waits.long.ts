import { setTimeout as sleep } from 'node:timers/promises';
import { EventHubConsumerClient } from '@azure/event-hubs';
import { type HubOptions, startHub } from 'iot-hub-emulator';
import { describe, test } from 'vitest';
import { viaAgent } from '../../iot-hub-emulator/test/support/clients.ts';
import { signal } from '../support/waiting.ts';
import { append, bodies, plainService, send } from './support/plain.ts';

// Traps that take the time they take: only for `npm run traps`, all at once. Waits are in seconds, as the clients have them
// by default; what is measured may differ by a few.

const hubFor = (options: Omit<HubOptions, 'directory'> = {}) =>
  startHub({ devices: [{ deviceId: 'pump-1' }], partitions: 1, ...options });
const seconds = (since: number) => (performance.now() - since) / 1000;
const pending = async (promise: Promise<unknown>) =>
  (await Promise.race([promise.then(String, String), sleep(10, 'pending')])) === 'pending';

describe.concurrent('traps that need patience', () => {
  test('trap 2: a send in progress when the hub closes the connection fails after 45 s, with all that are queued behind it', async ({
    expect,
  }) => {
    const hub = await hubFor();
    const client = plainService(hub);
    client.setRetryPolicy({ shouldRetry: () => false, nextRetryTimeout: () => -1 });
    await client.open();
    await send(client, 'pump-1', 'first');
    const condition = 'amqp:connection:forced';
    hub.faults.add({ kind: 'settle', answer: 'close', links: 'attached', condition, link: 'c2d', times: 1 });
    const began = performance.now();
    const failing = [send(client, 'pump-1', 'open')];
    await sleep(1000);
    failing.push(send(client, 'pump-1', 'queued'));
    const outcomes = await Promise.allSettled(failing);
    expect(seconds(began)).toBeGreaterThan(40);
    expect(seconds(began)).toBeLessThan(60);
    for (const outcome of outcomes) expect(outcome).toMatchObject({ status: 'rejected', reason: { name: 'Error' } });
    await hub.close();
  });

  test('trap 5: open() on a port that refuses does not fail within a minute, and succeeds when the port opens', async ({
    expect,
  }) => {
    const hub = await hubFor();
    hub.faults.add({ kind: 'refuse-connection', answer: 'closed', port: 'amqps' });
    const client = plainService(hub);
    const opening = client.open();
    await sleep(60_000);
    expect(await pending(opening)).toBe(true);
    hub.faults.clear();
    await opening;
    await client.close();
    await hub.close();
  });

  test('trap 5: a method call waits for an answer beyond its time-out', async ({ expect }) => {
    const hub = await hubFor();
    hub.faults.add({ kind: 'rest', answer: 'delay', ms: 60_000 });
    const client = viaAgent(hub, plainService(hub));
    const parameters = { methodName: 'reboot', responseTimeoutInSeconds: 5, connectTimeoutInSeconds: 0 };
    const began = performance.now();
    await expect(client.invokeDeviceMethod('pump-1', parameters)).rejects.toThrow('Not found');
    expect(seconds(began)).toBeGreaterThan(55);
    await hub.close();
  });

  test('trap 11: an unreachable hub is reported after 90 s, for any retry options', async ({ expect }) => {
    const hub = await hubFor();
    hub.faults.add({ kind: 'refuse-connection', answer: 'closed', port: 'amqp' });
    const client = new EventHubConsumerClient('$Default', hub.eventsConnectionString, {
      retryOptions: { maxRetries: 1, retryDelayInMs: 100, timeoutInMs: 1000 },
    });
    const reported = signal();
    const began = performance.now();
    const subscription = client.subscribe(
      { processEvents: async () => undefined, processError: async () => reported.give() },
      { startPosition: { offset: '-1' } },
    );
    await reported.given;
    expect(seconds(began)).toBeGreaterThan(80);
    expect(seconds(began)).toBeLessThan(110);
    await subscription.close();
    await client.close();
    await hub.close();
  });

  test('trap 11: after 2.5 s without a hub the events come back after 30 s, by default', async ({ expect }) => {
    const hub = await hubFor();
    const client = new EventHubConsumerClient('$Default', hub.eventsConnectionString);
    const seen: string[] = [];
    const subscription = client.subscribe(
      { processEvents: async (events) => void seen.push(...bodies(events)), processError: async () => undefined },
      { startPosition: { offset: '-1' }, maxWaitTimeInSeconds: 1 },
    );
    append(hub, 'before');
    await expect.poll(() => seen, { timeout: 10_000 }).toEqual(['before']);
    const began = performance.now();
    await hub.faults.strike({ kind: 'restart', downMs: 2500 });
    append(hub, 'after');
    await expect.poll(() => seen, { timeout: 60_000 }).toEqual(['before', 'after']);
    expect(seconds(began)).toBeGreaterThan(25);
    await subscription.close();
    await client.close();
    await hub.close();
  });
});
