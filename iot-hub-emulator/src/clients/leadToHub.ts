import { readFileSync } from 'node:fs';
import { Agent } from 'node:https';

/** Of a hub: its authority, and where it takes HTTPS and WebSockets. */
interface Place {
  readonly caFile: string;
  readonly ports: { readonly https: number };
}

interface Settable {
  setOptions(options: object): unknown;
}

/** Leads HTTPS requests and WebSockets to the hub, whatever port their address says. */
export const hubAgent = ({ caFile, ports }: Place): Agent =>
  new Agent({ host: 'localhost', port: ports.https, ca: readFileSync(caFile, 'utf8'), keepAlive: true });

/**
 * Has an official client send to the hub what it otherwise sends to port 443: requests of `Registry` and `Client` of `azure-iothub`, and requests
 * and WebSockets of device and module clients. The answer is the client. Throws `TypeError` for another object.
 */
export async function leadToHub<C extends object>(hub: Place, client: C): Promise<C> {
  const agent = hubAgent(hub);
  const rest: unknown = Reflect.get(client, '_restApiClient');
  if (isSettable(rest)) rest.setOptions({ http: { agent } });
  else if (isSettable(client))
    await client.setOptions({
      mqtt: { webSocketAgent: agent },
      amqp: { webSocketAgent: agent },
      http: { agent, receivePolicy: { interval: 1 } }, // the policy that the client has: it calls back only if one is set
    });
  else throw new TypeError('This is no client of azure-iothub or azure-iot-device.');
  return client;
}

const isSettable = (value: unknown): value is Settable =>
  typeof value === 'object' && value !== null && typeof Reflect.get(value, 'setOptions') === 'function';
