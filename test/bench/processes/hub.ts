import { setTimeout as sleep, setImmediate as turn } from 'node:timers/promises';
import { startHub } from 'iot-hub-emulator';
import { createJournal } from 'iot-hub-emulator/journal';
import { answerParent } from './answerParent.ts';
import { correlationId, deviceId, encodeEvent, type Kind } from './messages.ts';

/**
 * The sandbox hub in a process of its own. It appends the messages of a load, takes the replies as their devices would,
 * and checks that each message is acknowledged once, with success, and each creation notified once. argv: directory,
 * devices, partitions.
 */

/** What is to be sent. Devices take turns; a device keeps counting from load to load. */
export interface Load {
  readonly kind: Kind;
  readonly messages: number;
  readonly devices: number;
  readonly firstDevice?: number;
  /** Messages a second; as fast as possible when absent. */
  readonly rate?: number;
  /** With a rate: so many at once; 1 when absent. */
  readonly burst?: number;
  /** All are in the hub before the first is handed over, and the time begins then: the hub encodes none meanwhile. */
  readonly atOnce?: boolean;
  /** One in so many is of this kind, the others are telemetry. */
  readonly oneIn?: number;
  /** Bodies have 60 bytes or so. */
  readonly isSmall?: boolean;
}

/** What became of a load. Times in ms. */
export interface Served {
  /** From the first message appended, or the last with `atOnce`, to the last reply, or to the last message where no reply is due. */
  readonly wallMs: number;
  /** In words, a few of them. */
  readonly faults: readonly string[];
  /** From append to reply, of every message, ascending. */
  readonly latencies: readonly number[];
}

const [directory = '', devices = '0', partitions = '4'] = process.argv.slice(2);
const hub = await startHub({
  ...{ directory, partitions: Number(partitions), rules: { bounds: { partition: 4 * 2 ** 30 } } }, // room for a backlog
  journal: createJournal({ bytes: 65_536 }),
  devices: Array.from({ length: Number(devices) }, (_, index) => ({ deviceId: deviceId(index) })),
});

const sent = new Map<Kind, Map<number, number>>();
/** When each message was appended that waits for a reply; a creation waits for two. */
const waiting = new Map<string, number>();
const replyTo = (id: string, kind: 'acknowledgement' | 'notification') => `${kind} ${id}`;
let served = { replies: 0, faults: [] as string[], latencies: [] as number[], began: 0, ended: 0 };
let expected = 0;
let appended = 0;

const fault = (what: string) => {
  if (served.faults.length < 5) served.faults.push(what);
};

function receive(device: number, properties: Readonly<Record<string, string>>, body: Buffer): void {
  const now = performance.now();
  const isNotification = properties['svc-messagetype'] === 'platformEvent';
  const id = properties[isNotification ? 'id' : 'correlationId'] ?? '';
  const reply = replyTo(id, isNotification ? 'notification' : 'acknowledgement');
  const at = waiting.get(reply);
  if (at === undefined) {
    fault(`a second reply, or one to nothing: ${reply}`);
    return;
  }
  waiting.delete(reply);
  served.replies += 1;
  served.latencies.push(now - at);
  served.ended = now;
  if (!id.includes(`-${device}-`)) fault(`${deviceId(device)} got the reply to ${id}`);
  if (!body.includes(isNotification ? '"model":"svc.configuration"' : '"success":true'))
    fault(`${id}: ${body.toString('utf8', 0, 300)}`);
}

for (let device = 0; device < Number(devices); device += 1) {
  hub.devicebound.listen(deviceId(device), ({ message, complete }) => {
    complete();
    receive(device, message.properties, message.body);
  });
}

function append(kind: Kind, device: number, isSmall = false): void {
  const numbers = sent.get(kind) ?? new Map<number, number>();
  sent.set(kind, numbers);
  const nth = numbers.get(device) ?? 0;
  numbers.set(device, nth + 1);
  const message = { kind, device, nth, isSmall };
  if (kind !== 'telemetry') {
    waiting.set(replyTo(correlationId(message), 'acknowledgement'), performance.now());
    if (kind === 'create') waiting.set(replyTo(correlationId(message), 'notification'), performance.now());
  }
  hub.partitions[device % hub.partitions.length]?.append((place) => encodeEvent(message, place));
  appended += 1;
}

async function send(load: Load): Promise<void> {
  const {
    kind,
    messages,
    devices,
    firstDevice = 0,
    rate,
    burst = 1,
    oneIn = 1,
    atOnce = false,
    isSmall = false,
  } = load;
  const began = performance.now();
  served = { replies: 0, faults: [], latencies: [], began, ended: 0 };
  expected = kind === 'telemetry' ? 0 : Math.ceil(messages / oneIn) * (kind === 'create' ? 2 : 1);
  for (let index = 0; index < messages; index += 1) {
    if (rate !== undefined) {
      const due = ((index - (index % burst)) / rate) * 1000;
      const left = () => due - (performance.now() - began);
      while (left() > 0) await (left() > 2 ? sleep(1) : turn());
    } else if (!atOnce && index % 200 === 199) await turn();
    append(index % oneIn === 0 ? kind : 'telemetry', firstDevice + (index % devices), isSmall);
  }
  if (atOnce) served.began = performance.now();
}

/** Events that readers were given. */
const delivered = () => hub.counters().receivers.reduce((sum, { delivered }) => sum + delivered, 0);

answerParent({
  ...{ delivered, send },
  /** How much of the load is done, and whether that is all: replies, or events handed over where no reply is due. */
  progress: () => {
    if (expected > 0) return { done: served.replies, isAll: served.replies >= expected && waiting.size === 0 };
    const done = delivered();
    if (done >= appended && served.ended < served.began) served.ended = performance.now();
    return { done, isAll: done >= appended };
  },
  served: (): Served => ({
    wallMs: served.ended - served.began,
    faults: waiting.size > 0 ? [...served.faults, `${waiting.size} replies are missing`] : served.faults,
    latencies: served.latencies.sort((a, b) => a - b),
  }),
});
process.send?.({
  ...{ hubName: hub.name, amqpPort: hub.ports.amqp, amqpsPort: hub.ports.amqps, caFile: hub.caFile },
  eventsConnectionString: hub.eventsConnectionString,
  serviceConnectionString: hub.serviceConnectionString,
});
