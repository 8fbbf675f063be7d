import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Sandbox } from '../../../sandbox/sandbox.ts';
import { freePort } from '../../../sandbox/service/freePort.ts';
import { appendEvent } from '../../support/events.ts';
import { fatalAfter, withConstants } from '../../support/processes.ts';
import { keepRunning } from '../../support/restarting.ts';
import { percentile } from '../figures.ts';
import { inSandbox } from '../inSandbox.ts';
import { alone, anew, type Context, type Workload } from './workload.ts';

/** Devices that have to do with one message that ends the process. */
interface Trouble {
  /** Devices with one message each, for which each call of a backend takes 8 s. */
  readonly slow: number;
  /** The process ends so many milliseconds after the first call for the message. */
  readonly fatalMs: number;
  /** Each quick device sends one message each so many milliseconds, until all others are answered; 0: nine, all at once. */
  readonly everyMs: number;
}

const atOnce = { slow: 20, fatalMs: 0, everyMs: 0 };
const [quickDevices, messagesOfEach] = [40, 9];
const longestSeconds = 900;

/** What a message that ends the process costs its neighbours, when the service is started again whenever it ends. */
export const killers: Workload = {
  ...alone({
    name: 'killers',
    about: `how long ${quickDevices} quick devices wait beside slow ones and a message that ends the process`,
    isCold: true,
    most: 1,
    parts: (context) => {
      const later = { ...atOnce, fatalMs: context.quick ? 5_000 : 60_000, everyMs: 2_000 };
      return {
        '20 slow': anew((build) => measure(build, atOnce, context)),
        '200 slow': anew((build) => measure(build, { ...atOnce, slow: 200 }, context)),
        'after a minute': anew((build) => measure(build, later, context)),
      };
    },
  }),
  versus: (context) => ({ '': anew((build) => measure(build, atOnce, context)) }),
};

const measure = (build: string, trouble: Trouble, { progress }: Context) =>
  inSandbox(build, async (sandbox, directory) => {
    const preloads = [withConstants({ timing: { expirySeconds: 3 } }), fatalAfter(trouble.fatalMs)];
    const url = `http://127.0.0.1:${await freePort()}`;
    const environment = {
      ...sandbox.state.service.environment,
      ...{ NODE_OPTIONS: preloads.map(({ NODE_OPTIONS }) => NODE_OPTIONS).join(' '), HTTP_PORT: new URL(url).port },
    };
    const load = startLoad(sandbox, trouble);
    const began = performance.now();
    const logFile = join(directory, 'instance.log');
    const instance = keepRunning({ environment, directory: build, readyzUrl: `${url}/readyz`, logFile });
    const seconds = () => (performance.now() - began) / 1_000;
    try {
      let quickAfter = 0;
      while (load.left() > 0 && seconds() < longestSeconds) {
        await sleep(100);
        if (load.quickLeft() > 0) quickAfter = seconds();
        progress(`${load.left()} are left after ${instance.ends()} ends`);
      }
      if (load.left() > 0) throw new Error(`${load.left()} messages are left after ${longestSeconds} s`);
      const waits = load.waits.toSorted((one, other) => one - other);
      return {
        ...{ 'quick ones answered after, s': quickAfter, 'everybody after, s': seconds() },
        'quick ones wait, p50, s': percentile(waits, 0.5) / 1_000,
        'quick ones wait at most, s': percentile(waits, 1) / 1_000,
        'unclean shutdowns, ': instance.ends(),
      };
    } finally {
      load.close();
      await instance.stop();
    }
  });

/** Puts the messages into the hub, those of slow devices and the fatal one first, and sees who is answered. */
function startLoad({ hub, backends }: Sandbox, { slow, fatalMs, everyMs }: Trouble) {
  /** Correlation id, which begins with the kind of the device → when it was sent (milliseconds), of those without an answer. */
  const waiting = new Map<string, number>();
  /** How long quick devices waited for an answer (milliseconds). */
  const waits: number[] = [];
  const isQuick = (id: string) => id.startsWith('quick');
  const left = () => waiting.size;
  const quickLeft = () => [...waiting.keys()].filter(isQuick).length;

  const end = hub.journal.watch((entry) => {
    const id = (entry.kind === 'c2d' && entry.correlationId) || '';
    const sentAt = waiting.get(id);
    if (sentAt === undefined) return;
    if (isQuick(id)) waits.push(performance.now() - sentAt);
    waiting.delete(id);
  });

  const partitionOf = new Map<string, number>();
  function devices(kind: string, count: number): string[] {
    const names = Array.from({ length: count }, (_, index) => `${kind}-${index}`);
    for (const device of names) {
      partitionOf.set(device, partitionOf.size % hub.partitions.length);
      backends.world.principals.createDevice(device, 'acme');
      hub.registry.create(device);
      hub.devicebound.listen(device, (delivery) => delivery.complete());
    }
    return names;
  }

  const delay = (delayMs: number, deviceId: string) =>
    backends.faults.add({ backend: 'principalManager', delayMs, deviceId });

  function send(device: string, round: number) {
    const id = `${device}-${round}`;
    waiting.set(id, performance.now());
    appendEvent(hub.partitions[partitionOf.get(device) ?? 0], { device, properties: propertiesOf(id), body });
  }

  for (const device of devices('slow', slow)) {
    delay(8_000, device);
    send(device, 0);
  }
  for (const device of devices('fatal', 1)) {
    if (fatalMs > 0) delay(3_600_000, device);
    send(device, 0);
  }
  const senders = devices('quick', quickDevices);
  let rounds = 0;
  function sendRound() {
    for (const device of senders) send(device, rounds);
    rounds += 1;
  }

  while (rounds < (everyMs > 0 ? 1 : messagesOfEach)) sendRound();
  const timer = setInterval(() => everyMs > 0 && left() > quickLeft() && sendRound(), everyMs || 1_000);

  return {
    ...{ left, quickLeft, waits },
    close() {
      clearInterval(timer);
      end();
    },
  };
}

const body = Buffer.from(JSON.stringify({ publicKey: 'k'.repeat(200) }));

const propertiesOf = (correlationId: string) => ({
  ...{ msgType: 'action', action: 'identity.update', version: '2' },
  ...{ correlationId, ack: 'all', timeout: '300' },
});
