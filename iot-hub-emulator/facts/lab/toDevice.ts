import device from 'azure-iot-device';
import type iothub from 'azure-iothub';
import type { Lab, Specimen } from './lab.ts';
import { type Refused, refusalOf } from './refusal.ts';
import { within } from './within.ts';

type ServiceMessage = Parameters<iothub.Client['send']>[1];

interface Settings {
  readonly messageId?: string;
  readonly correlationId?: string;
  readonly expiryTimeUtc?: number;
  readonly ack?: string;
  readonly properties?: Readonly<Record<string, string>>;
}

/** A message for the service client, which has no class of its own for it. */
export function message(body: string | Buffer, { properties = {}, ...settings }: Settings = {}): ServiceMessage {
  const made = Object.assign(
    new device.Message(body),
    { contentType: 'application/json', contentEncoding: 'utf-8' },
    settings,
  );
  for (const [name, value] of Object.entries(properties)) made.properties.add(name, value);
  return made as unknown as ServiceMessage;
}

/** Why the hub did not take a message; undefined when it did. */
export async function refusedSend(lab: Lab, deviceId: string, one: ServiceMessage): Promise<Refused | undefined> {
  const service = await lab.openService();
  return within('the outcome of a message', refusalOf(service.send(deviceId, one)));
}

/** A device that takes what is sent to it; over AMQP its caller settles. */
export interface Reception {
  readonly specimen: Specimen;
  readonly connection: device.Client;
  /** The next message. */
  next(): Promise<device.Message>;
}

export async function reception(lab: Lab, given?: Specimen, transport: 'mqtt' | 'amqp' = 'mqtt'): Promise<Reception> {
  const specimen = given ?? (await lab.specimen());
  const received: device.Message[] = [];
  const waiting: ((message: device.Message) => void)[] = [];
  const connection = await lab.connected(specimen, transport, (client) =>
    client.on('message', (got: device.Message) => {
      if (transport === 'mqtt') client.complete(got).catch(() => undefined);
      const first = waiting.shift();
      if (first) first(got);
      else received.push(got);
    }),
  );
  return {
    ...{ specimen, connection },
    next: () =>
      new Promise((resolve) => {
        const first = received.shift();
        if (first) resolve(first);
        else waiting.push(resolve);
      }),
  };
}
