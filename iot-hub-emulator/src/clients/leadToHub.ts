import { readFileSync } from 'node:fs';
import { Agent } from 'node:https';

/** Where a hub takes HTTPS and WebSockets; this machine, without a name. Without `caFile`, the process has to trust its authority by itself. */
interface Place {
  readonly host?: string;
  readonly ports: { readonly https: number };
  readonly caFile?: string;
}

interface Settable {
  setOptions(options: object): unknown;
}

/** Leads HTTPS requests and WebSockets to the hub, whatever port their address says. */
export const hubAgent = ({ host = 'localhost', ports, caFile }: Place): Agent =>
  new Agent({ host, port: ports.https, keepAlive: true, ...(caFile && { ca: readFileSync(caFile, 'utf8') }) });

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
