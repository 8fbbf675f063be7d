import { expect } from 'vitest';
import { readPage } from '../../docs/markdown.ts';
import type { Sample } from '../../support/prom.ts';
import type { TestSandbox } from '../testSandbox.ts';
import type { Asking } from './asking.ts';
import { createDesk, createSenders } from './desk.ts';

// What befalls a sandbox, one after the other, and what a test knows of it without asking the service.

/** Messages of a device to one partition, and between which times they were sent. */
type Sent = Readonly<{ device: string; partition: number; count: number; from: number; to: number }>;

export interface Situation {
  readonly name: string;
  /** Makes it, and comes back when the service has met it. It lasts until `end`. */
  begin(stage: Stage): Promise<unknown>;
  end?(stage: Stage): Promise<unknown>;
  /** Whose circuit is open. */
  readonly out?: 'tokenEndpoint' | 'principalManager';
  /** The backend whose responses take `slowMs` longer. */
  readonly slow?: 'informationModel';
  /** Devices of which nothing, or not the last, has been handled: with what they wait for. */
  readonly waiting?: readonly string[];
  readonly waitsFor?: RegExp;
  /** What is handled of them meanwhile. */
  readonly isMoving?: true;
  readonly isHubGone?: true;
  /** What pump-7 sends. */
  readonly pump7?: 'identity.update' | 'model.update';
  /** What the tap says of it in the end. */
  readonly tapSays: string;
  /** The commands ask for the time since the situation before. */
  readonly isAfterwards?: true;
  readonly doNotFetch?: readonly string[];
}

export const slowMs = 1_000;
export const flooded = 300;

/** The sandbox, and what was done in it. */
export function createStage(sandbox: TestSandbox) {
  const desk = createDesk(sandbox.state.service);
  const senders = createSenders(sandbox);
  let sent: Sent[] = [];
  /** When the latest fault was cleared, in milliseconds since 1970. */
  let clearedAt = 0;
  let since = 0;
  let before: readonly Sample[] = [];

  function send(device: string, partition: number, count: number, what: 'renewKeys' | 'replaceModels', ack = 'none') {
    const from = Date.now();
    senders[what](device, count, ack, partition);
    sent.push({ device, partition, count, from, to: Date.now() });
  }

  return {
    ...{ sandbox, desk, send },
    /** Of this device in this situation, or of all. */
    sent: (devices?: readonly string[]) => sent.filter(({ device }) => devices?.includes(device) ?? true),
    clearedAt: () => clearedAt,
    since: () => since,
    clear() {
      clearedAt = Date.now();
      sandbox.backends.faults.clear();
      sandbox.hub.faults.clear();
    },
    /** Everything that was sent is handled to its end, and the hub has said that there is no more. */
    untilDone: () =>
      expect
        .poll(async () => {
          const { partitions } = await desk.ask('/partitions');
          return partitions.map((one: { behindSeconds: number | null }) => one.behindSeconds);
        })
        .toEqual(sandbox.hub.partitions.map(() => 0)),
    async begin(situation: Situation) {
      if (!situation.isAfterwards) {
        sent = [];
        since = Date.now();
        before = await desk.metrics().catch(() => []);
      }
      await situation.begin(this);
    },
    asking({ pump7 = 'identity.update', tapSays }: Situation): Asking {
      const what = pump7 === 'identity.update' ? 'renewKeys' : 'replaceModels';
      return { since, before, follow: { act: async () => send('pump-7', 1, 1, what, 'all'), until: tapSays } };
    },
  };
}

export type Stage = ReturnType<typeof createStage>;

/** As long as the page says, and as long again: a busy machine is slow. */
const unreadyWithinMs =
  2_000 * Number(/503 within (\d+) s of a hub that closes/.exec(readPage('operations.md'))?.[1] ?? Number.NaN);

const clearAndWait = (stage: Stage) => {
  stage.clear();
  return stage.untilDone();
};

const finders = Array.from({ length: 10 }, (_, number) => `finder-${number}`);
const slowed = Array.from({ length: 4 }, (_, number) => `slowed-${number}`);

/** Devices that hub and principal manager know. */
export const devices = ['pump-7', 'stuck', 'quick', ...slowed, 'flooder', 'deaf'];

const afterwards = (name: string): Situation => ({
  ...{ name, isAfterwards: true, tapSays: ' handled ' },
  begin: (stage) => stage.untilDone(),
});

export const situations: readonly Situation[] = [
  {
    ...{ name: 'the token endpoint is out from the start', out: 'tokenEndpoint', waiting: ['stuck', 'pump-7'] },
    waitsFor: /^an access token for the /,
    tapSays: ' waits ',
    async begin({ sandbox, send, desk }) {
      sandbox.backends.faults.add({ backend: 'token', status: 503 });
      await sandbox.startService();
      send('stuck', 0, 1, 'replaceModels');
      await expect.poll(async () => (await desk.ask('/backends')).tokenEndpoint?.circuit).toBe('open');
      await expect.poll(async () => (await desk.deviceWork('stuck'))?.messages).toBe(1);
      const isUnknown = ({ asOf }: { asOf: string | null }) => asOf === null; // as long as nobody has asked the hub
      await expect.poll(async () => (await desk.ask('/partitions')).partitions.filter(isUnknown)).toEqual([]);
    },
    end: clearAndWait,
  },
  {
    ...{ name: 'a backend is slow', slow: 'informationModel', waiting: slowed },
    ...{ waitsFor: /an answer of the information model/, isMoving: true, pump7: 'model.update', tapSays: ' handled ' },
    async begin({ sandbox, send, desk }) {
      sandbox.backends.faults.add({ backend: 'informationModel', delayMs: slowMs });
      send('quick', 3, 20, 'renewKeys');
      const durations = () =>
        desk.metric('http_client_request_duration_count', { device_messaging_backend: 'informationModel' });
      const first = await durations();
      for (const device of slowed) send(device, 0, 10, 'replaceModels');
      await expect.poll(durations).toBeGreaterThan((Number.isNaN(first) ? 0 : first) + 8);
      await expect.poll(() => desk.deviceWork('quick')).toBeUndefined();
    },
    end: clearAndWait,
  },
  {
    ...{ name: 'a backend is out', out: 'principalManager', waiting: [...finders, 'stuck', 'pump-7'] },
    waitsFor: /principal ?manager/i,
    tapSays: ' waits ',
    async begin({ sandbox, send, desk }) {
      sandbox.backends.faults.add({ backend: 'principalManager', status: 503 });
      for (const device of finders) {
        sandbox.backends.world.principals.createDevice(device, 'acme');
        send(device, 2, 1, 'renewKeys');
      }
      await expect.poll(async () => (await desk.ask('/backends')).principalManager.circuit).toBe('open');
      send('stuck', 0, 1, 'renewKeys');
      await expect.poll(async () => (await desk.deviceWork('stuck'))?.state).toBe('waits for backends');
    },
    end: clearAndWait,
  },
  afterwards('the backend is back'),
  {
    ...{ name: 'a device floods', waiting: ['flooder'], waitsFor: /principal manager/, tapSays: ' handled ' },
    async begin({ sandbox, send, desk }) {
      sandbox.backends.faults.add({ backend: 'principalManager', deviceId: 'flooder', hang: true });
      send('flooder', 0, flooded, 'renewKeys');
      await expect.poll(async () => (await desk.deviceWork('flooder'))?.messages).toBe(flooded);
    },
    end: clearAndWait,
  },
  afterwards('the flood is over'),
  {
    ...{ name: 'a device does not fetch', doNotFetch: ['deaf'], tapSays: ' handled ' },
    async begin({ send, desk, untilDone }) {
      send('deaf', 0, 60, 'renewKeys', 'all');
      await expect.poll(async () => (await desk.ask('/devices')).notFetching.devices).toEqual(['deaf']);
      await expect.poll(() => desk.deviceWork('deaf')).toBeUndefined();
      await untilDone();
    },
  },
  {
    ...{ name: 'the hub is gone', isHubGone: true, doNotFetch: ['deaf'], tapSays: ' following ' },
    async begin({ sandbox, desk }) {
      sandbox.hub.faults.add({ kind: 'refuse-connection', answer: 'closed' });
      await sandbox.hub.faults.strike({ kind: 'drop' });
      const { readyzUrl } = sandbox.state.service;
      const unready = async () => (await (await fetch(readyzUrl)).text()).match(/partition \d+ of the hub/g);
      const all = sandbox.hub.partitions.map(({ id }) => `partition ${id} of the hub`);
      await expect.poll(unready, { timeout: unreadyWithinMs }).toEqual(all);
      expect(await desk.isReady()).toBe(false);
      const figures = async () => (await desk.ask('/partitions')).partitions;
      await expect
        .poll(async () =>
          (await figures()).every((one: { behindSeconds: number | null }) => one.behindSeconds === null),
        )
        .toBe(true);
    },
    async end(stage) {
      await clearAndWait(stage);
      await expect.poll(() => stage.desk.isReady()).toBe(true);
    },
  },
  { ...afterwards('the hub is back'), doNotFetch: ['deaf'] },
];
