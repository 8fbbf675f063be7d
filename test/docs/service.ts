import { startBackends } from '../../sandbox/backends/backends.ts';
import { createBackends } from '../../src/backends/backends.ts';
import { createDispatch } from '../../src/dispatch/dispatch.ts';
import { createLog } from '../../src/log/log.ts';
import { createCounters } from '../../src/metrics/counters.ts';
import type { Reply } from '../../src/protocol/c2d.ts';
import { classify } from '../../src/protocol/event.ts';
import { readSettings } from '../../src/settings/config.ts';
import { messageLimits } from '../../src/settings/groups/constants.ts';
import { forever, now } from '../support/dispatching.ts';
import { hubEvent } from '../support/events.ts';

/** The service over the reference backends and their example world, without a hub: the same ids every time. */
export async function startService() {
  const { token, close, ...reference } = await startBackends({ seed: true });
  const settings = readSettings(
    {
      HUB_EVENTS_CONNECTION_STRING: 'Endpoint=sb://hub.example/;SharedAccessKeyName=n;SharedAccessKey=k;EntityPath=hub',
      HUB_SERVICE_CONNECTION_STRING: 'HostName=hub.example;SharedAccessKeyName=n;SharedAccessKey=k',
      INFORMATION_MODEL_URL: reference.informationModelUrl,
      TYPE_REGISTRY_URL: reference.typeRegistryUrl,
      PRINCIPAL_MANAGER_URL: reference.principalManagerUrl,
      BACKENDS_TOKEN_URL: token.url,
      BACKENDS_CLIENT_ID: token.clientId,
      BACKENDS_CLIENT_SECRET: token.clientSecret,
    },
    'no-such-directory',
  );
  const log = createLog('silent', { write: () => undefined });
  const backends = createBackends(settings.backends, log);
  const replies: Reply[] = [];
  const dispatch = createDispatch({
    backends,
    sender: {
      async send(reply) {
        replies.push(reply);
        return 'delivered';
      },
      stop() {},
    },
    counters: createCounters(),
    deadLetters: {
      park: () => Promise.reject(new Error('nothing fails through the side of the service')),
      remove: () => Promise.reject(new Error('nothing is handled twice')),
    },
    log,
    limits: messageLimits,
    now: () => now,
  });
  let sequenceNumber = 0;

  return {
    /** @returns the replies, in order */
    async send(device: string, properties: Readonly<Record<string, string>>, body: string): Promise<Reply[]> {
      sequenceNumber += 1;
      const event = hubEvent({ device, properties, body, sequenceNumber });
      const generation = classify(event);
      if (generation === undefined) throw new Error('this message is not for the service');
      await dispatch(
        { event, generation, deviceId: device, origin: { hub: 'hub', partition: '0' }, redelivered: false },
        forever,
      );
      return replies.splice(0);
    },
    async close() {
      await backends.close();
      await close();
    },
  };
}
