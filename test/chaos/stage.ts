import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { startHub } from 'iot-hub-emulator';
import type { EntryOf } from 'iot-hub-emulator/journal';
import { createJournal } from 'iot-hub-emulator/journal';
import { encodeDeviceEvent, stableHash } from 'iot-hub-emulator/testing';
import { startBackends } from '../../sandbox/backends/backends.ts';
import { serviceEnvironment } from '../../sandbox/service/environment.ts';
import { freePort } from '../../sandbox/service/freePort.ts';
import { withConstants } from '../support/processes.ts';
import type { Failover } from './hubOrder.ts';
import { createInstance, type Instance } from './instance.ts';
import type { Place } from './places.ts';
import { createRealDevice, type RealDevice } from './realDevice.ts';
import { createRotation } from './rotation.ts';
import { idOf, type Message } from './sealed.ts';
import type { DeadLetter, Storage } from './storage.ts';

/** A message towards a device, as the hub has taken or refused it. */
export type Devicebound = EntryOf<'c2d'>;

/** An instance was killed, ended or stood still, or a partition (by its id) was taken away from its reader. */
export interface Interruption {
  readonly at: number;
  readonly of: Instance | string;
}

export type Span = Readonly<{ from: number; to: number }>;

export interface StageOptions {
  readonly directory: string;
  /** For keys and certificates of the hub, which runs may share. */
  readonly hubDirectory: string;
  readonly serviceDirectory: string;
  /** Of the guest, when it is another build. */
  readonly guestDirectory?: string;
  readonly instances: number;
  readonly devices: readonly string[];
  /** Names of the identities that are connected through each of them. */
  readonly connected: readonly string[];
  /** How many of these have a connection of their own. */
  readonly realDevices: number;
  readonly letters: () => Promise<DeadLetter[]>;
  /** They have their secrets in files; with that of the storage account, if they use one. */
  readonly rotated?: { readonly storage: Storage | undefined };
  /** The service is told only the hub, and looks its event endpoint up. */
  readonly looksUp?: boolean;
  readonly environment: Readonly<Record<string, string>>;
  readonly checkpointsOf?: (hub: string) => Promise<ReadonlyMap<string, string>>;
}

/** Whether the service has to handle it. */
export const isOurs = ({ intent }: Pick<Message, 'intent'>): boolean =>
  intent.does !== 'nothing' || intent.code !== undefined;

/** Small and hurried: in a short run everything must come about that takes hours in life. */
const hurried = { DELIVERY_MAX_MESSAGES: '200', DELIVERY_DRAIN_SECONDS: '10', BACKENDS_ATTEMPT_TIMEOUT_SECONDS: '2' };

/** How long a reply is sent again that the hub refuses for now (C4). */
export const patienceSeconds = 12;

const timing = { expirySeconds: 8, checkpointSeconds: 1, replySeconds: patienceSeconds };

/** Some times as long as it takes instances to find the endpoint. */
const awayMs = 60_000;

/** An earlier build has no files of secrets and no such room, and looks no endpoint up. */
const hurriedConstants = (hasSecretFiles: boolean, looksUp: boolean) =>
  withConstants({
    timing,
    // So little that floods have no room to wait.
    ...(hasSecretFiles && { secretFiles: { lookMs: 200 }, backlogLimits: { maxBytes: 4 * 2 ** 20 } }),
    ...(looksUp && { reading: { silentMs: 4_000 }, failover: { unreadMs: 1_000 } }),
  });

/** How many messages of one partition are not covered by a checkpoint, or in work, while the store is well (docs/guarantees.md). */
export const uncoveredMessages = 500 + Number(hurried.DELIVERY_MAX_MESSAGES) / 2;

export type Stage = Awaited<ReturnType<typeof setStage>>;

/** A hub, the backends and instances of the service, and all that is seen of them. */
export async function setStage(options: StageOptions) {
  const { directory, hubDirectory, serviceDirectory, devices, environment } = options;
  await mkdir(directory, { recursive: true });
  const closers: (() => Promise<unknown>)[] = [];
  const close = async () => {
    for (let next = closers.pop(); next; next = closers.pop()) await next();
  };
  try {
    const journal = createJournal({ bytes: 2 ** 30 });
    const hub = await startHub({
      directory: hubDirectory,
      devices: devices.map((deviceId) => ({ deviceId })),
      journal,
    });
    closers.push(hub.close);
    const backends = await startBackends({ seed: true, journal });
    closers.push(backends.close);

    /** In the order of the hub, refused ones included. */
    const replies: Devicebound[] = [];
    /** Correlation ids of the requests whose replies a fault had answered otherwise than by taking them. */
    const faulted = new Set<string>();
    closers.push(async () => ended());
    /** Where each message stands in the hub, by its id; more than once where its device has sent it again. */
    const places = new Map<string, readonly Place[]>();
    /** When the hub changed its event endpoint. */
    const failovers: Failover[] = [];
    function stands(id: string, partition: number, { sequenceNumber, enqueuedTime }: Omit<Place, 'hub' | 'partition'>) {
      const place = { hub: hub.endpoint().name, partition: String(partition), sequenceNumber, enqueuedTime };
      places.set(id, [...(places.get(id) ?? []), place]);
    }
    const ended = journal.watch((entry) => {
      if (entry.kind === 'd2c') {
        const event = hub.endpoint().partitions[entry.partition]?.at(entry.sequenceNumber);
        if (event) stands(idOf(entry.properties), entry.partition, event);
      }
      if (entry.kind === 'c2d') replies.push(entry);
      if (entry.kind === 'c2d-fault') faulted.add(entry.correlationId ?? '');
    });
    const real = new Map<string, RealDevice>();
    for (const [index, deviceId] of devices.entries()) {
      const { createDevice, connect } = backends.world.principals;
      const own = createDevice(deviceId, 'acme');
      for (const name of options.connected) connect(own, name);
      if (index >= options.realDevices) hub.devicebound.listen(deviceId, (delivery) => delivery.complete());
      else {
        const device = createRealDevice(hub, deviceId);
        real.set(deviceId, device);
        closers.push(device.close);
      }
    }

    const lists = {
      /** After which messages may be handled again. */
      interruptions: [] as Interruption[],
      /** When a message had ended an instance (milliseconds since 1970). */
      fatalEnds: [] as number[],
      /** When connections were cut, so that what the hub had taken may not have been confirmed (milliseconds since 1970). */
      cuts: [] as number[],
      /** Errors of the clocks of instances, in milliseconds: how far ahead each was set. */
      clockErrors: [] as number[],
      /** When the checkpoint store failed or was slow. */
      storeTroubles: [] as Span[],
    };

    /** Changes secrets; undefined where they are in no files. */
    const rotation =
      options.rotated && createRotation(join(directory, 'secrets'), hub, backends, options.rotated.storage);
    const inFiles = Object.keys(rotation?.files ?? {}).map((name) => name.replace(/_FILE$/, ''));
    const inVariables = ([name]: readonly [string, string]) => !inFiles.includes(name);

    async function prepare(name: string, from = serviceDirectory): Promise<Instance> {
      const url = `http://127.0.0.1:${await freePort()}`;
      const own = join(directory, name);
      await mkdir(own, { recursive: true });
      const instance: Instance = createInstance({
        ...{ directory: own, serviceDirectory: from, url },
        environment: {
          ...Object.fromEntries(Object.entries(serviceEnvironment(hub, backends, url, own)).filter(inVariables)),
          ...rotation?.files,
          ...hurried,
          ...hurriedConstants(rotation !== undefined, options.looksUp === true),
          ...(options.looksUp && { HUB_EVENTS_CONNECTION_STRING: '', HUB_EVENTS_CONNECTION_STRING_FILE: '' }),
          ...environment,
        },
        onFatalEnd() {
          const at = Date.now();
          lists.fatalEnds.push(at);
          lists.interruptions.push({ at, of: instance });
        },
      });
      closers.push(instance.end);
      return instance;
    }
    const instances = await Promise.all(Array.from({ length: options.instances }, (_, n) => prepare(`instance-${n}`)));
    /** One that may come and go. */
    const guest = await prepare('guest', options.guestDirectory);
    await Promise.all(instances.map((instance) => instance.start()));

    let silence: Promise<void> | undefined;
    const sending = new Set<Promise<void>>();

    /** Has the device send a message, or puts it into the device's partition as if it had. */
    async function send(message: Message): Promise<void> {
      while (silence !== undefined) await silence;
      const sent = sendNow(message);
      sending.add(sent);
      await sent.finally(() => sending.delete(sent));
    }

    /** Lets no device send, once those that do have sent. Answers a function that ends it. */
    async function silenceDevices() {
      let end = () => {};
      silence = new Promise<void>((resolve) => {
        end = () => {
          silence = undefined;
          resolve();
        };
      });
      await Promise.allSettled([...sending]);
      return end;
    }

    let isAway = false;
    let awayUntil = 0;
    /** The hub fails over, to its other endpoint or back. Answers how many connections ended. */
    async function failOver(): Promise<number> {
      const position = journal.last;
      isAway = !isAway;
      awayUntil = performance.now() + awayMs;
      const struck = hub.faults.strike({ kind: 'failover' });
      failovers.push({ position, hub: hub.endpoint().name });
      return struck;
    }

    let turn: Promise<unknown> = Promise.resolve();
    /** One failover after the other: they would be ways back of each other. */
    function oneFailover<T>(work: () => Promise<T>): Promise<T> {
      const done = turn.then(work);
      turn = done.catch(() => undefined);
      return done;
    }

    /** Ids of the messages that were sent and are to be handled. */
    const ours = new Set<string>();
    async function sendNow(message: Message): Promise<void> {
      if (isOurs(message)) ours.add(message.id);
      const { deviceId, properties, body, isEncoded } = message;
      const device = real.get(deviceId);
      if (device && !isEncoded) return device.send(message);
      const identity = hub.registry.get(deviceId);
      const { partitions } = hub.endpoint();
      const partition = partitions[stableHash(deviceId) % partitions.length];
      if (identity === undefined || partition === undefined) throw new Error(`the hub has no device ${deviceId}`);
      const login = { identity, authMethod: '{"scope":"device","type":"sas","issuer":"iothub"}', expiresAt: 0 };
      stands(
        message.id,
        partition.id,
        partition.append((place) =>
          encodeDeviceEvent(login, { system: {}, properties, body, ...(isEncoded && { isEncoded }) }, place),
        ),
      );
    }

    const ending = new AbortController();
    closers.push(async () => ending.abort());
    return {
      ...{ hub, backends, instances, guest, devices, replies, faulted, places, rotation, ...lists },
      /** Faults of the backends that let a call have its effect and hide it. */
      hiding: new Set<string>(),
      /** The hub is at its other endpoint, or has come back just now: nothing happens until the service has found it. */
      isAway: () => isAway || performance.now() < awayUntil,
      ...{ ours, failovers, failOver, silenceDevices, oneFailover },
      /** What of the checkpoints of an endpoint, by their names, tells a change. */
      checkpointsOf: options.checkpointsOf ?? (async () => new Map<string, string>()),
      letters: options.letters,
      /** Aborted when all messages are handled: what has met nothing by then will meet nothing. */
      over: ending.signal,
      end: () => ending.abort(),
      ...{ send, close },
    };
  } catch (error) {
    await close();
    throw error;
  }
}
