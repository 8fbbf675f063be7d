import { randomBytes } from 'node:crypto';
import type device from 'azure-iot-device';
import type iothub from 'azure-iothub';
import { type Clients, clientsOf } from './clients.ts';
import { readRefusal } from './refusal.ts';
import { hostOf, type Target } from './target.ts';

/** An identity of the run. */
export interface Specimen {
  readonly deviceId: string;
  readonly connectionString: string;
}

/** What probes have at hand: clients, and devices of their own, which go with it. */
export interface Lab extends Clients {
  readonly target: Target;
  /** Begins the ids of all its devices. */
  readonly run: string;
  /** Asks the registry for a device; the answer has its keys. The end of the run waits for it. */
  create(device: { readonly deviceId: string }): Promise<iothub.Device>;
  /** A new device in the registry. */
  specimen(settings?: object): Promise<Specimen>;
  /** Its client, open. `prepare` is called before. */
  connected(
    specimen: Specimen,
    transport?: 'mqtt' | 'amqp',
    prepare?: (client: device.Client) => void,
  ): Promise<device.Client>;
  /** The service client that probes share, open. */
  openService(): Promise<iothub.Client>;
  /** Made once, however many probes ask for it. */
  shared<T>(make: (lab: Lab) => Promise<T>): Promise<T>;
  /** Called at the end, the last one first. */
  atEnd(step: () => unknown): void;
  /** Closes all clients and removes all devices. Rejects with the ids of those that it could not remove. */
  close(): Promise<void>;
}

/** Ids of all devices that a run makes begin so. */
export const prefix = 'hub-facts-';

export function createLab(target: Target): Lab {
  const clients = clientsOf(target);
  const run = `${prefix}${randomBytes(4).toString('hex')}`;
  const registry = clients.registry();
  const made: string[] = [];
  const steps: (() => unknown)[] = [];
  const sharedByMaker = new Map<unknown, Promise<unknown>>();
  const creating = new Set<Promise<unknown>>();
  let isClosing = false;

  const open = async () => {
    const client = clients.service();
    steps.push(() => client.close());
    await client.open();
    return client;
  };

  const lab: Lab = {
    ...clients,
    consumer(...which) {
      const consumer = clients.consumer(...which);
      steps.push(() => consumer.close());
      return consumer;
    },
    target,
    run,
    async create(described) {
      if (isClosing) throw new Error('the run ends');
      const answer = registry.create(described);
      creating.add(answer);
      const done = () => void creating.delete(answer);
      answer.then(done, done);
      return (await answer).responseBody;
    },
    async specimen(settings = {}) {
      const deviceId = `${run}-${made.length}`;
      made.push(deviceId); // before it exists: a lost answer leaves none behind
      const described = await lab.create({ deviceId, ...settings });
      const key = described.authentication?.symmetricKey?.primaryKey ?? '';
      return {
        deviceId,
        connectionString: `HostName=${hostOf(target.hub)};DeviceId=${deviceId};SharedAccessKey=${key}`,
      };
    },
    async connected({ connectionString }, transport, prepare) {
      const connection = clients.device(connectionString, transport);
      connection.on('error', () => undefined);
      prepare?.(connection);
      steps.push(() => connection.close());
      await connection.open();
      return connection;
    },
    openService: () => lab.shared(open),
    shared<T>(make: (lab: Lab) => Promise<T>) {
      const known = sharedByMaker.get(make) ?? make(lab);
      sharedByMaker.set(make, known);
      return known as Promise<T>;
    },
    atEnd: (step) => void steps.push(step),
    async close() {
      isClosing = true;
      await Promise.allSettled(creating);
      for (let step = steps.pop(); step; step = steps.pop()) await quietly(step);
      const left = await remove(registry, made.splice(0));
      if (left.length > 0) throw new Error(`These devices may still be there: ${left.join(', ')}`);
    },
  };
  return lab;
}

const closesWithinMs = 10_000;

/** A client that has lost its connection may never say that it is closed. */
async function quietly(step: () => unknown): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise((resolve) => {
    timer = setTimeout(resolve, closesWithinMs);
  });
  await Promise.race([(async () => step())().catch(() => undefined), late]);
  clearTimeout(timer);
}

/** The ids of those that may be left. */
async function remove(registry: iothub.Registry, deviceIds: readonly string[]): Promise<readonly string[]> {
  const left: string[] = [];
  for (const deviceId of deviceIds)
    await registry.delete(deviceId).catch((error: Error) => {
      if (readRefusal(error).name !== 'DeviceNotFoundError') left.push(deviceId);
    });
  return left;
}
