import { expect, it, vi } from 'vitest';
import { readFoundEndpoint } from '../../../src/hub/endpoint/foundEndpoint.ts';
import { balanceLimits } from '../../../src/hub/reading/balance.ts';
import { createConsumer } from '../../../src/hub/reading/consumer.ts';
import { createMemoryStore } from '../../../src/hub/stores/memoryStore.ts';
import type { Log } from '../../../src/log/log.ts';
import { failover } from '../../../src/settings/constants.ts';
import { hubEvent } from '../../support/events.ts';
import { recordingLog } from '../../support/observed.ts';
import { neverCrashing } from '../../support/processLife.ts';
import { signal, withFakeTimers } from '../../support/waiting.ts';
import { createFakeHub } from '../support/fakeHub.ts';
import { usualOpened, usualReading } from '../support/reading.ts';
import { untold } from '../support/replying.ts';
import { standIns } from '../support/standIns.ts';

// The hub fails over in silence: each process ends when it notices, and the next one reads the other endpoint (D402, D403).

vi.mock('@azure/event-hubs', async (original) =>
  (await import('../support/standIns.ts')).withStandIns(await original<object>()),
);

withFakeTimers();

const drainMs = 25_000;
const partitions = ['0', '1'];

/** A hub that names one of two endpoints; messages of the device `busy` do not end until `endBusy`. */
function setUp() {
  const [east, west] = ['east', 'west'].map((name) => {
    const hub = createFakeHub(partitions);
    standIns.set(name, () => hub.client(neverCrashing()));
    return { name, hub, store: createMemoryStore(), sent: 0 };
  }) as [Place, Place];
  const hub = { names: east };
  const { given: isBusyOver, give: endBusy } = signal();
  const handled: string[] = [];

  function startProcess(instance: string) {
    const log = recordingLog();
    const state = { hasMoved: false, hasStopped: false };
    const consumerAt = ({ name, store }: Place) =>
      createConsumer({
        ...usualReading,
        ...{ instance, access: name, store, drainMs, roundMs: 5_000, balance: balanceLimits(30_000, drainMs) },
        partition: () => ({
          ...usualOpened(1_000),
          arrivalOf: (event) => ({ event, deviceId: String(event.systemProperties?.['iothub-connection-device-id']) }),
          async dispatch({ deviceId, event: { sequenceNumber } }, { ended }) {
            const isLeft = new Promise((resolve) => ended.addEventListener('abort', resolve));
            if (deviceId === 'busy') await Promise.race([isBusyOver, isLeft]);
            if (!ended.aborted) handled.push(`${deviceId} ${name} ${sequenceNumber}`);
            return !ended.aborted;
          },
        }),
      });
    const reading = readFoundEndpoint({
      lookUp: async () => ({ namespace: 'hub.example', eventHub: hub.names.name }),
      open: async ({ eventHub }) => consumerAt(eventHub === 'east' ? east : west),
      moved() {
        state.hasMoved = true;
      },
      ...{ limits: failover, log: { ...log, debug() {} } as unknown as Log, troubles: untold },
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

it('a process that has finished ends only when the others have left the endpoint, too: they may have earlier messages of its devices', async () => {
  const { hub, east, west, handled, startProcess, endBusy, send } = setUp();
  const one = startProcess('one');
  await secondsUntil(() => one.reading.partitions().length === 2);
  const other = startProcess('other');
  await secondsUntil(() => other.reading.partitions().length === 1);
  const [{ partition = '' } = {}] = other.reading.partitions();
  send(east, 'busy', partition);
  await secondsUntil(() => other.reading.waiting().messages === 1);
  hub.names = west;
  await secondsUntil(() => one.state.hasMoved);
  const stopping = one.stop();
  await secondsUntil(() => other.state.hasMoved);
  expect([one.reading.waiting().messages, one.state.hasStopped]).toEqual([0, false]);
  endBusy();
  await other.stop();
  await stopping;
  expect(handled).toEqual([`busy east 0`]);
});

it('a process waits for no partition that it could not release itself', async () => {
  const { hub, east, west, startProcess } = setUp();
  const one = startProcess('one');
  await secondsUntil(() => one.reading.partitions().length === 2);
  hub.names = west;
  await secondsUntil(() => one.state.hasMoved);
  east.store.change = () => Promise.reject(new Error('the store refuses it'));
  expect(await one.stop()).toBeLessThan(3);
});
