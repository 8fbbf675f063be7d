import { type Finding, failure, ok, outage } from '@device-messaging/telemetry/check.ts';
import mqtt from 'mqtt';
import type { Configuration } from '../configuration/read.ts';
import { errorMessage } from '../connections/errorMessage.ts';
import { clientOptions } from '../modules/brokerConnection.ts';

const what = 'broker';

/** Refusals in the answer to a sign-in, MQTT 3.1.1: of the client id, the user or the password. */
const signInRefusals: readonly unknown[] = [2, 4, 5];

/**
 * Signs in as the proxy does, under a client id of its own: a broker ends the other connection of an id. Subscribes to
 * nothing, so that no reply comes here.
 */
export async function checkBroker({ broker }: Pick<Configuration, 'broker'>): Promise<Finding[]> {
  const { clientId: _, ...options } = clientOptions(broker);
  const client = mqtt.connect(broker.url, options);
  try {
    await new Promise<void>((resolve, reject) => {
      client.once('connect', () => resolve());
      client.once('error', reject);
      client.once('close', () => reject(new Error('the broker has closed the connection')));
    });
    return [ok(what, `${broker.url} takes the user ${broker.username ?? '(none)'}`)];
  } catch (error) {
    const { code } = error as { readonly code?: unknown };
    const found = `${broker.url}: ${errorMessage(error)}`;
    if (signInRefusals.includes(code))
      return [failure(what, found, 'compare broker.username and broker.password with those of the broker')];
    return [
      /CERT|ISSUER|SIGNATURE/.test(String(code))
        ? failure(what, found, 'broker.caFile must name the authority of its certificate')
        : outage(what, found, 'compare broker.url, or start the broker'),
    ];
  } finally {
    await client.endAsync(true).catch(() => undefined);
  }
}
