import { readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Counters } from 'iot-hub-emulator';
import { signSas } from 'iot-hub-emulator/testing';
import mqtt, { type MqttClient } from 'mqtt';
import { authorized } from '../processes/authorized.ts';
import { startChild } from '../processes/child.ts';
import type { HubUnderLoadDescription } from '../processes/hubUnderLoad.ts';
import { alone, anew, type Context, type Workload } from './workload.ts';

/** What the hub has used: CPU in microseconds, memory in bytes. */
type Usage = { cpu: number; rss: number; counters: Counters };

interface Surroundings {
  readonly build: string;
  readonly devices: number;
  /** It keeps what it has on disk. */
  readonly persist?: boolean;
  readonly progress: Context['progress'];
}

/** Does this with a hub in a process of its own, and its devices, which are connected. */
async function withHub<T>(
  { build, devices: count, persist = false, progress }: Surroundings,
  work: (hub: HubUnderLoad, devices: readonly MqttClient[]) => Promise<T>,
): Promise<T> {
  const directory = await mkdtemp(join(tmpdir(), 'hub-load-'));
  const args = [directory, String(count), persist ? 'persist' : 'memory'];
  const { described, call, stop } = await startChild<HubUnderLoadDescription>('./hubUnderLoad.ts', args, build);
  const post = async (path: string, body: object) => {
    const response = await fetch(described.adminUrl + path, { method: 'POST', body: JSON.stringify(body) });
    if (!response.ok) throw new Error(await response.text());
  };
  const hub: HubUnderLoad = {
    ...described,
    deviceIds: Array.from({ length: count }, (_, index) => `device-${index}`),
    usage: () => call<Usage>('usage'),
    append: (events) => post('/faults', { kind: 'burst', events, bytes: kib }),
    sendTo: (deviceId) => post(`/devices/${deviceId}/messages`, { body: 'x'.repeat(kib / 4) }),
  };
  try {
    const devices = await connectAll(hub, progress);
    const done = await work(hub, devices);
    for (const device of devices) device.end(true);
    return done;
  } finally {
    await stop();
    await rm(directory, { recursive: true, force: true });
  }
}

interface HubUnderLoad extends HubUnderLoadDescription {
  readonly deviceIds: readonly string[];
  usage(): Promise<Usage>;
  /** Events of 1 KiB. */
  append(events: number): Promise<void>;
  sendTo(deviceId: string): Promise<void>;
}

const kib = 1024;
const expiry = Math.floor(Date.now() / 1000) + 3600;

/** Reads all partitions from their beginning. Answers what ends it. */
async function readAll(hub: HubUnderLoad, onEvent: () => void): Promise<() => void> {
  const key = /SharedAccessKey=([^;]*)/.exec(hub.events)?.[1] ?? '';
  const audience = `sb://127.0.0.1/${hub.name}`;
  const token = signSas(audience, key, 'utf8', expiry, 'events');
  const connection = await authorized({ port: hub.ports.amqp, host: '127.0.0.1' }, audience, token);
  for (const partition of [0, 1, 2, 3]) {
    const source = `${hub.name}/ConsumerGroups/$Default/Partitions/${partition}`;
    connection.open_receiver({ source, credit_window: 1000 }).on('message', onEvent);
  }
  return () => connection.close();
}

/** Until so many events have been read. */
async function receive(hub: HubUnderLoad, count: number): Promise<void> {
  let received = 0;
  let finish = () => {};
  const all = new Promise<void>((resolve) => {
    finish = resolve;
  });
  const end = await readAll(hub, () => {
    received += 1;
    if (received === count) finish();
  });
  await all;
  end();
}

const key = Buffer.alloc(32, 1).toString('base64');

async function connectAll({ deviceIds, caFile, ports }: HubUnderLoad, progress: Context['progress']) {
  const ca = readFileSync(caFile);
  const devices: MqttClient[] = [];
  const connectOne = (clientId: string) =>
    mqtt.connectAsync({
      ...{ protocol: 'mqtts', host: 'localhost', port: ports.mqtts, ca, protocolVersion: 4, clientId, keepalive: 600 },
      username: `localhost/${clientId}/?api-version=2021-04-12`,
      password: signSas(`localhost/devices/${clientId}`, key, 'base64', expiry),
      reconnectPeriod: 0,
    });
  for (let next = 0; next < deviceIds.length; next += 100) {
    devices.push(...(await Promise.all(deviceIds.slice(next, next + 100).map(connectOne))));
    progress(`${devices.length} devices are connected`);
  }
  return devices;
}

function publishOnce(device: MqttClient, bytes: number) {
  const topic = `devices/${device.options.clientId}/messages/events/colour=red&%24.ct=application%2Fjson`;
  return device.publishAsync(topic, Buffer.alloc(bytes, 'x'), { qos: 1 });
}

/** From all devices, each with some events in flight, until `count` are acknowledged. */
async function publish(devices: readonly MqttClient[], count: number): Promise<void> {
  let left = count;
  const sender = async (device: MqttClient) => {
    for (; left > 0; await publishOnce(device, kib)) left -= 1;
  };
  await Promise.all(devices.flatMap((device) => Array.from({ length: 16 }, () => sender(device))));
}

/** Of the hub, for each of so many. */
async function cpuOf(hub: HubUnderLoad, count: number, work: () => Promise<void>): Promise<number> {
  const before = await hub.usage();
  await work();
  return ((await hub.usage()).cpu - before.cpu) / count;
}

const shared = { devices: 32 };

/** Of the hub, in µs for each event of 1 KiB. */
async function costs(build: string, { quick, progress }: Context) {
  const events = quick ? 5_000 : 50_000;
  const inMemory = await withHub({ build, ...shared, progress }, async (hub, devices) => {
    await hub.append(events); // warms up
    await publish(devices, events);
    return {
      'append an event of 1 KiB, µs': await cpuOf(hub, events, () => hub.append(events)),
      'append one that a device publishes over TLS, µs': await cpuOf(hub, events, () => publish(devices, events)),
      'deliver an event of 1 KiB, µs': await cpuOf(hub, events, () => receive(hub, events)),
    };
  });
  const onDisk = await withHub({ build, ...shared, progress, persist: true }, async (hub, devices) => {
    await publish(devices, events);
    return await cpuOf(hub, events, () => publish(devices, events));
  });
  return { ...inMemory, 'append one that is published and kept on disk, µs': onDisk };
}

const memory = (build: string, { quick, progress }: Context) =>
  withHub({ build, ...shared, progress }, async (hub) => {
    const events = quick ? 100_000 : 1_000_000;
    await hub.append(10_000);
    const before = await hub.usage();
    await hub.append(events);
    return { 'memory of an event of 1 KiB, KB': ((await hub.usage()).rss - before.rss) / events / 1000 };
  });

/** Devices that are connected at once, publish, and are sent a message each. */
const crowd = (build: string, { quick, progress }: Context) =>
  withHub({ build, devices: quick ? 500 : 10_000, progress }, async (hub, devices) => {
    await Promise.all(
      devices.map((device) => device.subscribeAsync(`devices/${device.options.clientId}/messages/devicebound/#`)),
    );
    await Promise.all(devices.map((device) => publishOnce(device, kib)));
    const received = devices.map((device) => new Promise((resolve) => device.once('message', resolve)));
    for (const deviceId of hub.deviceIds) await hub.sendTo(deviceId);
    await Promise.all(received);
    const { rss, counters } = await hub.usage();
    const { device: connected } = counters.connections;
    if (connected !== devices.length) throw new Error(`of ${devices.length} devices ${connected} are connected`);
    return { 'memory with 10,000 devices, MB': rss / 1e6 };
  });

/** What devices that send one message after the other, `perSecond` in all, cost a hub that is read meanwhile. */
function steadily(build: string, { quick, progress }: Context) {
  const [count, perSecond, seconds] = quick ? [100, 100, 5] : [5_000, 1_000, 60];
  return withHub({ build, devices: count, progress }, async (hub, devices) => {
    let [sent, acknowledged, received] = [0, 0, 0];
    const endReading = await readAll(hub, () => {
      received += 1;
    });
    const send = async (device: MqttClient | undefined) => {
      await (device && publishOnce(device, kib / 4));
      acknowledged += 1;
    };
    const before = await hub.usage();
    const began = performance.now();
    for (let elapsed = 0; elapsed < seconds * 1000; elapsed = performance.now() - began) {
      for (const due = (elapsed / 1000) * perSecond; sent < due; sent += 1) void send(devices[sent % count]);
      await sleep(10);
    }
    for (let left = 100; left > 0 && Math.min(acknowledged, received) < sent; left -= 1) await sleep(100);
    const { cpu, rss } = await hub.usage();
    endReading();
    const lost = sent - Math.min(acknowledged, received);
    if (lost > 0) throw new Error(`${lost} of ${sent} messages are lost`);
    return { 'CPU of a message, µs': (cpu - before.cpu) / sent, 'memory, MB': rss / 1e6 };
  });
}

/** What the hub emulator costs. `--vs` compares it under 5,000 devices. */
export const hub: Workload = {
  ...alone({
    name: 'hub',
    about: 'the hub emulator: an event, a million of them, 10,000 devices',
    most: 2,
    goals: {
      'append an event of 1 KiB, µs': { atMost: 40 },
      'append one that a device publishes over TLS, µs': { atMost: 40 },
      'deliver an event of 1 KiB, µs': { atMost: 40 },
      'append one that is published and kept on disk, µs': { atMost: 60 },
      'memory of an event of 1 KiB, KB': { atMost: 2.5 },
      'memory with 10,000 devices, MB': { atMost: 1000 },
    },
    parts: (context) => ({
      '': anew(async (build) => ({
        ...(await costs(build, context)),
        ...(await memory(build, context)),
        ...(await crowd(build, context)),
      })),
    }),
  }),
  versus: (context) => ({ '5,000 devices': anew((build) => steadily(build, context)) }),
};
