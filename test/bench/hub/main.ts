import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { connect, createSecureContext, type SecureContext } from 'node:tls';
import { parseArgs } from 'node:util';
import type { Counters, FaultRequest } from 'iot-hub-emulator';
import { signSas } from 'iot-hub-emulator/testing';
import { generate, type Packet, parser } from 'mqtt-packet';
import rhea, { type Connection, type Sender } from 'rhea';
import { fromCommandLine, projectDirectory } from '../../../sandbox/state/directories.ts';
import { authorized } from '../processes/authorized.ts';
import { startChild } from '../processes/child.ts';
import type { HubUnderLoadDescription } from '../processes/hubUnderLoad.ts';

/** What the hub has used: CPU in microseconds, memory in bytes. */
type Usage = { cpu: number; rss: number; counters: Counters };

/**
 * A hub in a process of its own, to be put under load.
 * @param build the folder of its checkout; ours unless given
 */
async function startUnderLoad(devices: number, persist = false, build?: string) {
  const directory = await mkdtemp(join(tmpdir(), 'hub-load-'));
  const args = [directory, String(devices), persist ? 'persist' : 'memory'];
  const { described, call, stop } = await startChild<HubUnderLoadDescription>('./hubUnderLoad.ts', args, build);
  return {
    ...described,
    usage: () => call<Usage>('usage'),
    async ask(fault: FaultRequest) {
      const response = await fetch(`${described.adminUrl}/faults`, { method: 'POST', body: JSON.stringify(fault) });
      if (!response.ok) throw new Error(await response.text());
    },
    async stop() {
      await stop();
      await rm(directory, { recursive: true, force: true });
    },
  };
}

type HubUnderLoad = Awaited<ReturnType<typeof startUnderLoad>>;

const expiry = Math.floor(Date.now() / 1000) + 3600;

/** A connection in plain TCP that has put a token. */
async function connected(hub: HubUnderLoad, use: 'events' | 'service'): Promise<Connection> {
  const key = /SharedAccessKey=([^;]*)/.exec(hub[use])?.[1] ?? '';
  const audience = use === 'events' ? `sb://127.0.0.1/${hub.name}` : 'localhost';
  const token = signSas(audience, key, use === 'events' ? 'utf8' : 'base64', expiry, use);
  return authorized({ port: hub.ports.amqp, host: '127.0.0.1' }, audience, token);
}

/** Reads a partition from its beginning. Answers what ends it. */
async function read(hub: HubUnderLoad, partition: number, onEvent: () => void): Promise<() => void> {
  const connection = await connected(hub, 'events');
  const source = `${hub.name}/ConsumerGroups/$Default/Partitions/${partition}`;
  connection.open_receiver({ source, credit_window: 1000 }).on('message', onEvent);
  return () => connection.close();
}

async function receive(hub: HubUnderLoad, partition: number, count: number): Promise<void> {
  if (count === 0) return;
  let [received, end] = [0, () => {}];
  await new Promise<void>((resolve, reject) => {
    const onEvent = () => {
      received += 1;
      if (received === count) resolve();
    };
    read(hub, partition, onEvent).then((ending) => {
      end = ending;
    }, reject);
  });
  end();
}

/** Send one message to each of these devices; resolves when the hub has taken all of them. */
async function sendToDevices(hub: HubUnderLoad, deviceIds: readonly string[]): Promise<void> {
  const connection = await connected(hub, 'service');
  const sender: Sender = connection.open_sender('/messages/devicebound');
  const body = rhea.message.data_section(Buffer.alloc(256, 'x'));
  let [sent, accepted] = [0, 0];
  await new Promise<void>((resolve, reject) => {
    const send = () => {
      for (; sent < deviceIds.length && sender.sendable(); sent++)
        sender.send({ to: `/devices/${deviceIds[sent]}/messages/devicebound`, body });
    };
    sender.on('sendable', send);
    sender.on('accepted', () => {
      accepted += 1;
      if (accepted === deviceIds.length) resolve();
      else send();
    });
    sender.on('rejected', () => reject(new Error('The hub rejected a message.')));
  });
  connection.close();
}

/** A device that costs its process as little as it can. */
interface MqttDevice {
  write(bytes: Buffer): void;
  onPacket: (packet: Packet) => void;
  next(cmd: Packet['cmd']): Promise<Packet>;
  end(): void;
}

const key = Buffer.alloc(32, 1).toString('base64');

const contexts = new Map<string, SecureContext>();

async function connectDevice(hub: HubUnderLoad, deviceId: string): Promise<MqttDevice> {
  const secureContext = contexts.get(hub.caFile) ?? createSecureContext({ ca: readFileSync(hub.caFile) });
  contexts.set(hub.caFile, secureContext);
  const socket = connect({ host: '127.0.0.1', port: hub.ports.mqtts, secureContext, servername: 'localhost' });
  socket.setNoDelay(true);
  await once(socket, 'secureConnect');
  const packets = parser({ protocolVersion: 4 });
  const waiting = new Map<string, (packet: Packet) => void>();
  const device: MqttDevice = {
    write: (bytes) => void socket.write(bytes),
    onPacket: () => undefined,
    next: (cmd) => new Promise((resolve) => waiting.set(cmd, resolve)),
    end: () => socket.destroy(),
  };
  packets.on('packet', (packet) => {
    device.onPacket(packet);
    waiting.get(packet.cmd)?.(packet);
    waiting.delete(packet.cmd);
  });
  socket.on('data', (chunk) => packets.parse(chunk));
  socket.on('error', (error) => {
    throw error;
  });
  const connack = device.next('connack');
  device.write(
    generate({
      ...{ cmd: 'connect', protocolId: 'MQTT', protocolVersion: 4, clean: true, clientId: deviceId, keepalive: 600 },
      username: `localhost/${deviceId}/?api-version=2021-04-12`,
      password: Buffer.from(signSas(`localhost/devices/${deviceId}`, key, 'base64', expiry)),
    }),
  );
  await connack;
  return device;
}

const publication = (deviceId: string, size: number, messageId: number): Buffer =>
  generate({
    cmd: 'publish',
    topic: `devices/${deviceId}/messages/events/colour=red&%24.ct=application%2Fjson`,
    ...{ payload: Buffer.alloc(size, 'x'), qos: 1, dup: false, retain: false, messageId },
  });

// What the sandbox hub costs, measured in its own process: `npm run bench -- hub`. Takes some minutes.

const rounds = 5;
const events = 50_000;
const kib = 1024;
const { values: asked, positionals } = parseArgs({ allowPositionals: true, options: { vs: { type: 'string' } } });
const crowd = Number(positionals[0] ?? 10_000);
const print = (line: string): void => void process.stdout.write(`${line}\n`);
let missed = 0;

const median = (values: readonly number[]): number => [...values].sort((a, b) => a - b)[values.length >> 1] ?? 0;

function report(what: string, unit: string, values: readonly number[], limit: number): void {
  const [low, high] = [Math.min(...values), Math.max(...values)].map((value) => value.toFixed(2));
  const ok = median(values) <= limit;
  if (!ok) missed += 1;
  const range = values.length > 1 ? ` (${low} to ${high})` : '';
  print(`${ok ? 'ok  ' : 'MISS'} ${what}: ${median(values).toFixed(2)} ${unit}${range}, at most ${limit}`);
}

async function cpu(hub: HubUnderLoad, count: number, work: () => Promise<void>): Promise<number> {
  const before = await hub.usage();
  await work();
  return ((await hub.usage()).cpu - before.cpu) / count;
}

/** Publish from some devices, each with some events in flight, until `count` are acknowledged. */
function publish(devices: readonly MqttDevice[], count: number): Promise<void> {
  const bytes = devices.map((_, i) => publication(`device-${i}`, kib, 1));
  let [sent, done] = [0, 0];
  return new Promise((resolve) => {
    for (const [i, device] of devices.entries()) {
      const send = () => {
        if (sent >= count) return;
        sent += 1;
        device.write(bytes[i] ?? Buffer.alloc(0));
      };
      device.onPacket = ({ cmd }) => {
        if (cmd !== 'puback') return;
        done += 1;
        if (done === count) resolve();
        else send();
      };
      for (let window = 0; window < 16; window++) send();
    }
  });
}

const appendedBy = (usage: Usage) => usage.counters.appended;

async function costs(): Promise<void> {
  const hub = await startUnderLoad(32);
  const devices = await Promise.all(Array.from({ length: 32 }, (_, i) => connectDevice(hub, `device-${i}`)));
  await hub.ask({ kind: 'burst', events, bytes: kib }); // warms up
  const append: number[] = [];
  const mqtt: number[] = [];
  for (let round = 0; round < rounds; round++) {
    append.push(await cpu(hub, events, () => hub.ask({ kind: 'burst', events, bytes: kib })));
    mqtt.push(await cpu(hub, events, () => publish(devices, events)));
  }
  report('append an event of 1 KiB', 'µs', append, 40);
  report('append one that a device publishes over TLS', 'µs', mqtt, 40);
  for (const device of devices) device.end();

  const perPartition = Math.floor(appendedBy(await hub.usage()) / 8);
  const deliver: number[] = [];
  for (let round = 0; round < rounds + 1; round++)
    deliver.push(await cpu(hub, 4 * perPartition, () => receiveAll(hub, perPartition)));
  report('deliver an event of 1 KiB', 'µs', deliver.slice(1), 40);
  await hub.stop();

  const keeping = await startUnderLoad(32, true);
  const writers = await Promise.all(Array.from({ length: 32 }, (_, i) => connectDevice(keeping, `device-${i}`)));
  await publish(writers, events);
  const kept: number[] = [];
  for (let round = 0; round < 3; round++) kept.push(await cpu(keeping, events, () => publish(writers, events)));
  report('the same, published and kept on disk', 'µs', kept, 60);
  for (const device of writers) device.end();
  await keeping.stop();
}

async function receiveAll(hub: HubUnderLoad, perPartition: number): Promise<void> {
  await Promise.all([0, 1, 2, 3].map((partition) => receive(hub, partition, perPartition)));
}

async function memory(): Promise<void> {
  const hub = await startUnderLoad(32);
  const million = 1_000_000;
  await hub.ask({ kind: 'burst', events: 10_000, bytes: kib });
  const before = await hub.usage();
  await hub.ask({ kind: 'burst', events: million, bytes: kib });
  report(
    'memory of an event of 1 KiB among a million',
    'KB',
    [((await hub.usage()).rss - before.rss) / million / 1000],
    2.5,
  );
  await hub.stop();
}

const idsOf = (count: number) => Array.from({ length: count }, (_, i) => `device-${i}`);

async function connectAll(hub: HubUnderLoad, ids: readonly string[]): Promise<MqttDevice[]> {
  const devices: MqttDevice[] = [];
  for (let next = 0; next < ids.length; next += 100) {
    devices.push(...(await Promise.all(ids.slice(next, next + 100).map((id) => connectDevice(hub, id)))));
    if (devices.length % 2000 === 0) print(`     ${devices.length} devices are connected`);
  }
  return devices;
}

/** What devices that send one message after the other, `perSecond` in all, cost a hub that is read meanwhile. */
async function steadily(build: string): Promise<Readonly<Record<'cpu' | 'rss' | 'lost', number>>> {
  const [count, perSecond, seconds] = [5_000, 1_000, 60];
  const hub = await startUnderLoad(count, false, build);
  const devices = await connectAll(hub, idsOf(count));
  let [sent, acknowledged, received] = [0, 0, 0];
  const readers = [0, 1, 2, 3].map((partition) =>
    read(hub, partition, () => {
      received += 1;
    }),
  );
  const ends = await Promise.all(readers);
  const publications = devices.map((device, i) => {
    device.onPacket = ({ cmd }) => {
      if (cmd === 'puback') acknowledged += 1;
    };
    return publication(`device-${i}`, kib / 4, 1);
  });
  const before = await hub.usage();
  const began = performance.now();
  for (let elapsed = 0; elapsed < seconds * 1000; elapsed = performance.now() - began) {
    for (const due = (elapsed / 1000) * perSecond; sent < due; sent += 1)
      devices[sent % count]?.write(publications[sent % count] ?? Buffer.alloc(0));
    await sleep(10);
  }
  for (let left = 100; left > 0 && Math.min(acknowledged, received) < sent; left -= 1) await sleep(100);
  const { cpu, rss } = await hub.usage();
  for (const device of devices) device.end();
  for (const end of ends) end();
  await hub.stop();
  return { cpu: (cpu - before.cpu) / sent, rss: rss / 1e6, lost: sent - Math.min(acknowledged, received) };
}

/** This build's hub beside that of another checkout, in turn. */
async function compare(there: string): Promise<void> {
  const ratios: Record<'cpu' | 'rss', number[]> = { cpu: [], rss: [] };
  for (let round = 0; round < 3; round += 1) {
    const ours = await steadily(projectDirectory);
    const theirs = await steadily(there);
    const say = ({ cpu, rss, lost }: typeof ours) =>
      `${cpu.toFixed(0)} µs a message, ${rss.toFixed(0)} MB, ${lost} lost`;
    print(`     here ${say(ours)}; there ${say(theirs)}`);
    if (ours.lost > 0) missed += 1;
    ratios.cpu.push(ours.cpu / theirs.cpu);
    ratios.rss.push(ours.rss / theirs.rss);
  }
  report('CPU of a message of 5,000 devices, beside that build', '×', ratios.cpu, 1.03);
  report('memory of the hub with them', '×', ratios.rss, 1.03);
}

async function manyDevices(): Promise<void> {
  const hub = await startUnderLoad(crowd);
  const began = performance.now();
  const ids = idsOf(crowd);
  const devices = await connectAll(hub, ids);
  let received = 0;
  const all = new Promise<void>((resolve) => {
    for (const device of devices)
      device.onPacket = ({ cmd }) => {
        if (cmd !== 'publish') return;
        device.write(Buffer.from([0x40, 2, 0, 1]));
        received += 1;
        if (received === crowd) resolve();
      };
  });
  await Promise.all(
    devices.map((device, i) => {
      const subscribed = device.next('suback');
      device.write(subscription(`device-${i}`));
      return subscribed;
    }),
  );
  const before = appendedBy(await hub.usage());
  await Promise.all(
    devices.map((device, i) => {
      const acknowledged = device.next('puback');
      device.write(publication(`device-${i}`, kib, 1));
      return acknowledged;
    }),
  );
  await Promise.all([sendToDevices(hub, ids), all]);
  const usage = await hub.usage();
  const seconds = ((performance.now() - began) / 1000).toFixed(0);
  print(
    `     ${usage.counters.connections.device} connected at once, ${appendedBy(usage) - before} sent, ${received} received, in ${seconds} s`,
  );
  if (usage.counters.connections.device !== crowd) missed += 1;
  report(`hub with ${crowd} devices`, 'MB', [usage.rss / 1e6], 1000);
  for (const device of devices) device.end();
  await hub.stop();
}

function subscription(deviceId: string): Buffer {
  const topic = Buffer.from(`devices/${deviceId}/messages/devicebound/#`);
  const head = Buffer.from([0x82, topic.length + 5, 0, 7, 0, topic.length]);
  return Buffer.concat([head, topic, Buffer.from([1])]);
}

if (asked.vs !== undefined) await compare(fromCommandLine(asked.vs));
else {
  await costs();
  await memory();
  await manyDevices();
}
process.exit(missed === 0 ? 0 : 1);
