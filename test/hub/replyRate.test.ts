import { type Hub, type HubRules, startHub } from 'iot-hub-emulator';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { createServiceConnection } from '../../src/hub/replies/replies.ts';
import { cureHubSdks } from '../../src/hub/sdkCures.ts';
import { plainService } from '../traps/support/plain.ts';
import { replyTo, senderOver, silence, untold } from './support/replying.ts';

// The official service client against the sandbox's hub, which holds replies back as a real hub of a small tier does.

cureHubSdks();

let hub: Hub;
let connection: ReturnType<typeof createServiceConnection>;
let clients: number;
afterEach(async () => {
  await connection.close();
  await hub.close();
});

async function setUp(rules: HubRules, answerWithinMs: number, devices: readonly string[]) {
  hub = await startHub({ devices: devices.map((deviceId) => ({ deviceId })), rules });
  clients = 0;
  const newClient = () => {
    clients += 1;
    return plainService(hub);
  };
  connection = createServiceConnection({ newClient, answerWithinMs, log: silence, troubles: untold });
  await connection.open();
  await expect.poll(() => connection.isOpen()).toBe(true);
  clients = 1;
}

const named = (count: number) => Array.from({ length: count }, (_, index) => `d${index}`);
const received = () =>
  hub.journal
    .list({ kind: 'c2d' })
    .flatMap((entry) => (entry.kind === 'c2d' && entry.refused === undefined ? [entry.deviceId] : []))
    .sort();

describe('a hub that delays replies', () => {
  /** S1, with one unit, is this much slower: 1.7 replies a second, settled within 10 s or not, 60 s for one reply. */
  const faster = 20;
  const [perSecond, answerWithinMs, maxWaitMs] = [(100 / 60) * faster, 10_000 / faster, 60_000 / faster];

  it.each([
    ['although it settles the last one long after its time-out', 60_000 / faster, maxWaitMs],
    ['also when it refuses those with too long a delay', 200, 60_000],
  ])('gets 90 replies over one connection, each once, %s', async (_, shapingMs, waitMs) => {
    const devices = named(90);
    await setUp({ rates: { c2d: perSecond }, shapingMs }, answerWithinMs, devices);
    const sender = senderOver(connection.send, { answerWithinMs, maxWaitMs: waitMs });
    const deliveries = await Promise.all(devices.map((deviceId) => sender.send(replyTo(deviceId))));
    expect(new Set(deliveries)).toEqual(new Set(['delivered']));
    expect(received()).toEqual([...devices].sort());
    expect(clients).toBe(1);
  });
});

describe('a faulty hub', () => {
  const oneDevice = ['d0'];
  const longEnough = 1_000;
  const texts = () =>
    hub.journal.list({ kind: 'c2d' }).flatMap((one) => (one.kind === 'c2d' && !one.refused ? [String(one.body)] : []));

  it.each([undefined, 'amqp:link:detach-forced'])(
    'gets the next reply over one new link when it detaches the link with %s and keeps the connection',
    async (condition) => {
      await setUp({}, longEnough, oneDevice);
      await connection.send(replyTo('d0', 'first'));
      await hub.faults.strike({ kind: 'detach', connections: 'service', ...(condition && { condition }) });
      await expect.poll(() => connection.isOpen()).toBe(false);
      const sender = senderOver(connection.send, { answerWithinMs: longEnough });
      const bodies = Array.from({ length: 20 }, (_, index) => String(index));
      const deliveries = await Promise.all(bodies.map((body) => sender.send(replyTo('d0', body))));
      expect(new Set(deliveries)).toEqual(new Set(['delivered']));
      expect([texts().length, clients]).toEqual([21, 2]);
      const links = hub.counters().links;
      expect(links).toBe(3); // two of them of $cbs
    },
  );

  it.each([
    ['com.microsoft:device-container-throttled', 'throttled'],
    ['amqp:internal-error', 'not_taken'],
  ])('gets one attempt in ten seconds when it refuses links with %s', async (condition, reason) => {
    await setUp({}, longEnough, oneDevice);
    const fault = hub.faults.add({ kind: 'refuse-link', connections: 'service', address: 'devicebound', condition });
    const struck = () => hub.faults.list().find(({ id }) => id === fault)?.struck;
    const began = performance.now();
    const clock = vi.spyOn(performance, 'now').mockReturnValue(began);
    expect((await connection.send(replyTo('d0', 'x')))?.reason).toBe(reason);
    await expect.poll(() => connection.isOpen()).toBe(false);
    const refusals = await Promise.all(Array.from({ length: 20 }, () => connection.send(replyTo('d0', 'x'))));
    expect(new Set(refusals.map((refusal) => refusal?.reason))).toEqual(new Set(['hub_unavailable']));
    expect([struck(), clients]).toEqual([1, 1]);
    hub.faults.clear(fault);
    clock.mockReturnValue(began + 10_000);
    expect([await connection.send(replyTo('d0', 'y')), texts(), clients]).toEqual([undefined, ['y'], 2]);
  });
});
