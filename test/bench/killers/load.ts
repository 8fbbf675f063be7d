import type { startSandbox } from '../../../sandbox/sandbox.ts';
import { appendEvent } from '../../support/events.ts';

type Sandbox = Awaited<ReturnType<typeof startSandbox>>;

export interface LoadOptions {
  /** Devices with one message each, for which each call of a backend takes eight seconds. */
  readonly slow: number;
  /** Devices with quick messages. */
  readonly quick: number;
  /** Of each quick device, at once. */
  readonly messages: number;
  /** Instead of these, each quick device sends one each so many milliseconds, until all others are answered. */
  readonly everyMs: number;
  /** Of each call for a quick device. */
  readonly callMs: number;
  /** Whether there is a message that ends the process. */
  readonly hasFatal: boolean;
  /** Whether it ends the process only after its first call has been waiting for some time. */
  readonly isFatalLate: boolean;
}

export interface Load {
  readonly kinds: readonly Kind[];
  /** Sent so far. */
  sent(): number;
  answered(): number;
  isDone(): boolean;
  close(): void;
}

/** Messages of one kind of device. */
export interface Kind {
  readonly name: string;
  /** Correlation id → when it was sent (milliseconds), of those without an answer. */
  readonly left: ReadonlyMap<string, number>;
  /** How long the others waited for their first answer (milliseconds), in the order of the answers. */
  readonly waits: readonly number[];
}

/** Puts the messages into the hub, those of slow devices and the fatal one first, and sees who is answered. */
export function startLoad({ hub, backends }: Sandbox, options: LoadOptions): Load {
  const slow = kind('slow');
  const fatal = kind('fatal');
  const quick = kind('quick');
  const kinds = [slow, fatal, quick];
  let sent = 0;

  const end = hub.journal.watch((entry) => {
    if (entry.kind !== 'c2d') return;
    const id = entry.correlationId ?? '';
    kinds.find(({ left }) => left.has(id))?.answered(id);
  });

  function devices({ name }: { name: string }, count: number): string[] {
    const names = Array.from({ length: count }, (_, index) => `${name}-${index}`);
    for (const device of names) {
      backends.world.principals.createDevice(device, 'acme');
      hub.registry.create(device);
      hub.devicebound.listen(device, (delivery) => delivery.complete());
    }
    return names;
  }

  const delay = (delayMs: number, deviceId?: string) =>
    backends.faults.add({ backend: 'principalManager', delayMs, ...(deviceId !== undefined && { deviceId }) });

  const partitionOf = new Map<string, number>();
  function send(to: Kind & { sent(id: string): void }, device: string, round: number) {
    const id = `${device}-${round}`;
    if (!partitionOf.has(device)) partitionOf.set(device, partitionOf.size % hub.partitions.length);
    to.sent(id);
    sent += 1;
    appendEvent(hub.partitions[partitionOf.get(device) ?? 0], { device, properties: propertiesOf(id), body });
  }

  for (const device of devices(slow, options.slow)) {
    delay(8_000, device);
    send(slow, device, 0);
  }
  for (const device of devices(fatal, options.hasFatal ? 1 : 0)) {
    if (options.isFatalLate) delay(3_600_000, device);
    send(fatal, device, 0);
  }
  if (options.callMs > 0) delay(options.callMs);
  const quickDevices = devices(quick, options.quick);
  let rounds = 0;
  function sendRound() {
    for (const device of quickDevices) send(quick, device, rounds);
    rounds += 1;
  }

  const isOpen = () => options.everyMs > 0 && slow.left.size + fatal.left.size > 0;
  while (rounds < (options.everyMs > 0 ? 1 : options.messages)) sendRound();
  const timer = setInterval(() => isOpen() && sendRound(), options.everyMs || 1_000);

  return {
    kinds: kinds.filter(({ left }) => left.size > 0),
    sent: () => sent,
    answered: () => kinds.reduce((sum, { waits }) => sum + waits.length, 0),
    isDone: () => kinds.every(({ left }) => left.size === 0),
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
  const left = new Map<string, number>();
  const waits: number[] = [];
  return {
    name,
    left,
    waits,
    sent: (id: string) => void left.set(id, performance.now()),
    answered(id: string) {
      waits.push(performance.now() - (left.get(id) ?? 0));
      left.delete(id);
    },
  };
}
