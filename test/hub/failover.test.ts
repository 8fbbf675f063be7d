import { expect, it, vi } from 'vitest';
import { balanceLimits } from '../../src/hub/reading/balance.ts';
import { createConsumer } from '../../src/hub/reading/consumer.ts';
import { createEndpointLease, readFoundEndpoint } from '../../src/hub/reading/foundEndpoint.ts';
import { createLeases } from '../../src/hub/reading/leases.ts';
import type { Log } from '../../src/observing/log.ts';
import { failover } from '../../src/settings/constants.ts';
import { createMemoryStore } from '../../src/stores/fileCheckpoints.ts';
import { hubEvent } from '../support/events.ts';
import { recordingLog } from '../support/observed.ts';
import { neverCrashing } from '../support/processLife.ts';
import { signal, withFakeTimers } from '../support/waiting.ts';
import { createFakeHub } from './support/fakeHub.ts';
import { usualOpened, usualReading } from './support/reading.ts';
import { untold } from './support/replying.ts';
import { standIns } from './support/standIns.ts';

// The hub fails over in silence: each process ends when it notices, and the next one reads the other endpoint (D402, D403).

vi.mock('@azure/event-hubs', async (sdk) => (await import('./support/standIns.ts')).withStandIns(await sdk<object>()));

withFakeTimers();

const drainMs = 25_000;
const expiryMs = 30_000;
const limits = { ...failover, othersMs: 175_000 };
const partitions = ['0', '1'];

/** A hub that names one of two endpoints; messages of the device `busy` do not end until `endBusy`. */
function setUp() {
  const [east, west] = ['east', 'west'].map((name) => {
    const hub = createFakeHub(partitions);
    standIns.set(name, () => hub.client(neverCrashing()));
    return { name, hub, store: createMemoryStore(), sent: 0 };
  }) as [Place, Place];
  const hub = { names: east, host: 'hub.example' };
  const placeOf = ({ eventHub }: { readonly eventHub: string }) => (eventHub === 'east' ? east : west);
  const records = createMemoryStore();
  const { given: isBusyOver, give: endBusy } = signal();
  const handled: string[] = [];

  function startProcess(instance: string) {
    const log = recordingLog();
    const state = { hasMoved: false, hasStopped: false };
    const consumerAt = ({ name, store }: Place) =>
      createConsumer({
        ...usualReading,
        ...{ instance, access: name, store, drainMs, roundMs: 5_000, balance: balanceLimits(expiryMs, drainMs) },
        partition: () => ({
          ...usualOpened(1_000),
          receivedMessageOf: (event) => ({
            event,
            deviceId: String(event.systemProperties?.['iothub-connection-device-id']),
          }),
          async dispatch({ deviceId, event: { sequenceNumber } }, { ended }) {
            const isLeft = new Promise((resolve) => ended.addEventListener('abort', resolve));
            if (deviceId === 'busy') await Promise.race([isBusyOver, isLeft]);
            if (!ended.aborted) handled.push(`${deviceId} ${name} ${sequenceNumber}`);
            return !ended.aborted;
          },
        }),
      });
    const reading = readFoundEndpoint({
      lookUp: async () => ({ namespace: hub.host, eventHub: hub.names.name }),
      take: createEndpointLease(
        records,
        async (endpoint) => createLeases(placeOf(endpoint).store, instance, 20_000, expiryMs / 3),
        expiryMs,
      ),
      open: async (endpoint) => consumerAt(placeOf(endpoint)),
      moved() {
        state.hasMoved = true;
      },
      ...{ limits, log: { ...log, debug() {} } as unknown as Log, troubles: untold },
    });
    reading.start();
    return {
      ...{ reading, state, lines: log.lines },
      async stop() {
        void reading.stop().then(() => {
          state.hasStopped = true;
        });
        return secondsUntil(() => state.hasStopped);
      },
    };
  }

  return {
    ...{ hub, east, west, handled, startProcess, endBusy },
    send(place: Place, device: string, partition = '0') {
      place.hub.append(partition, hubEvent({ sequenceNumber: place.sent++, device }));
    },
  };
}

interface Place {
  readonly name: string;
  readonly hub: ReturnType<typeof createFakeHub>;
  readonly store: ReturnType<typeof createMemoryStore>;
  sent: number;
}

/** The time that passes until it is so, in seconds. */
async function secondsUntil(isSo: () => boolean): Promise<number> {
  for (let seconds = 0; seconds < 300; seconds += 1) {
    if (isSo()) return seconds;
    await vi.advanceTimersByTimeAsync(1_000);
  }
  throw new Error(`not within 300 s: ${isSo}`);
}

const others = Array.from({ length: 19 }, (_, index) => `other-${index}`);

it('messages that one device left unfinished hold up no message at the other endpoint, and are handled when the hub is back', async () => {
  const { hub, east, west, handled, startProcess, endBusy, send } = setUp();
  const first = startProcess('first');
  for (let count = 0; count < 300; count += 1) send(east, 'busy');
  await secondsUntil(() => first.reading.waiting().messages === 300);
  hub.names = west;
  for (const device of ['busy', ...others]) send(west, device);
  await secondsUntil(() => first.state.hasMoved);
  expect(await first.stop()).toBeLessThanOrEqual(drainMs / 1_000 + 2);
  expect(first.lines.filter(({ level }) => level === 'warn')).toMatchObject([
    { fields: { from: 'hub.example/east', to: 'hub.example/west' } },
    { fields: { endpoint: 'hub.example/east', unfinished: 300 } },
  ]);

  const second = startProcess('second');
  await secondsUntil(() => others.every((device, index) => handled.includes(`${device} west ${index + 1}`)));
  expect(handled).toHaveLength(others.length);

  endBusy();
  hub.names = east;
  await secondsUntil(() => second.state.hasMoved);
  await second.stop();
  expect(second.lines.filter(({ level }) => level === 'warn')).toHaveLength(1);
  const third = startProcess('third');
  await secondsUntil(() => handled.length === others.length + 1 + 300);
  expect(handled.slice(-300)).toEqual(Array.from({ length: 300 }, (_, number) => `busy east ${number}`));
  await third.stop();
});

it.each([
  ['leave', 'the endpoint before'],
  ['lose', 'the endpoint before, as they have ended without a stop'],
])('a process begins only when the others %s %s: they may have earlier messages of its devices', async (how) => {
  const { hub, east, west, handled, startProcess, endBusy, send } = setUp();
  const first = startProcess('first');
  await secondsUntil(() => first.reading.partitions().length === 2);
  send(east, 'busy');
  await secondsUntil(() => first.reading.waiting().messages === 1);
  hub.names = west;
  send(west, 'busy');
  const newcomer = startProcess('newcomer');
  await vi.advanceTimersByTimeAsync(30_000);
  const expected = [['the hub’s event endpoint: other instances have work of the endpoint before'], []];
  expect([newcomer.reading.missing(), handled]).toEqual(expected);
  if (how === 'lose')
    east.store.change = () => Promise.reject(new Error('no store')); // it renews nothing more
  else {
    await secondsUntil(() => first.state.hasMoved);
    void first.stop();
  }
  endBusy();
  expect(await secondsUntil(() => handled.includes('busy west 0'))).toBeLessThan(50);
  expect(handled[0]).toBe('busy east 0');
  await Promise.all([first.stop(), newcomer.stop()]);
});
