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
    parts: (context) => ({
      '20 slow': anew((build) => measure(build, atOnce, context)),
      '200 slow': anew((build) => measure(build, { ...atOnce, slow: 200 }, context)),
      'after a minute': anew((build) => measure(build, { ...atOnce, fatalMs: 60_000, everyMs: 2_000 }, context)),
    }),
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
        if (load.quick.left.size > 0) quickAfter = seconds();
        progress(`${load.left()} are left after ${instance.ends()} ends`);
      }
      if (load.left() > 0) throw new Error(`${load.left()} messages are left after ${longestSeconds} s`);
      const waits = load.quick.waits.toSorted((one, other) => one - other);
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
function startLoad({ hub, backends }: Sandbox, { slow: slowDevices, fatalMs, everyMs }: Trouble) {
  const slow = kind('slow');
  const fatal = kind('fatal');
  const quick = kind('quick');
  const kinds = [slow, fatal, quick];

  const end = hub.journal.watch((entry) => {
    if (entry.kind !== 'c2d') return;
    const id = entry.correlationId ?? '';
    kinds.find(({ left }) => left.has(id))?.answered(id);
  });

  function devices({ name }: Kind, count: number): string[] {
    const names = Array.from({ length: count }, (_, index) => `${name}-${index}`);
    for (const device of names) {
      backends.world.principals.createDevice(device, 'acme');
      hub.registry.create(device);
      hub.devicebound.listen(device, (delivery) => delivery.complete());
    }
    return names;
  }

  const delay = (delayMs: number, deviceId: string) =>
    backends.faults.add({ backend: 'principalManager', delayMs, deviceId });

  const partitionOf = new Map<string, number>();
  function send(to: Kind, device: string, round: number) {
    const id = `${device}-${round}`;
    if (!partitionOf.has(device)) partitionOf.set(device, partitionOf.size % hub.partitions.length);
    to.left.set(id, performance.now());
    appendEvent(hub.partitions[partitionOf.get(device) ?? 0], { device, properties: propertiesOf(id), body });
  }

  for (const device of devices(slow, slowDevices)) {
    delay(8_000, device);
    send(slow, device, 0);
  }
  for (const device of devices(fatal, 1)) {
    if (fatalMs > 0) delay(3_600_000, device);
    send(fatal, device, 0);
  }
  const senders = devices(quick, quickDevices);
  let rounds = 0;
  function sendRound() {
    for (const device of senders) send(quick, device, rounds);
    rounds += 1;
  }

  const isOpen = () => everyMs > 0 && slow.left.size + fatal.left.size > 0;
  while (rounds < (everyMs > 0 ? 1 : messagesOfEach)) sendRound();
  const timer = setInterval(() => isOpen() && sendRound(), everyMs || 1_000);

  return {
    quick,
    left: () => kinds.reduce((sum, { left }) => sum + left.size, 0),
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

function kind(name: string) {
  /** Correlation id → when it was sent (milliseconds), of those without an answer. */
  const left = new Map<string, number>();
  /** How long the others waited for their first answer (milliseconds). */
  const waits: number[] = [];
  return {
    ...{ name, left, waits },
    answered(id: string) {
      waits.push(performance.now() - (left.get(id) ?? 0));
      left.delete(id);
    },
  };
}

type Kind = ReturnType<typeof kind>;
