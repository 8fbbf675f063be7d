import { EventHubConsumerClient, type EventHubConsumerClientOptions } from '@azure/event-hubs';
import type { EventsAccess } from '../../access/access.ts';
import { currentOf, isSecret, renewed } from '../../access/secretFiles.ts';
import { within } from '../../concurrency/waiting.ts';
import type { Log, Troubles } from '../../observing/log.ts';
import { overWebSockets } from '../hubTransport.ts';
import { receiveAtOnce } from '../receiveCycle.ts';
import type { PartitionSession } from './assignment.ts';

export interface EventHubConnectionOptions {
  readonly access: EventsAccess;
  readonly consumerGroup: string;
  /** A subscription that reports nothing for this time is replaced; an idle one reports every `maxWaitSeconds`. */
  readonly silentMs: number;
  readonly log: Log;
  readonly troubles: Troubles;
}

const closesWithinMs = 5_000;
const silence = 'silence of the hub';

export type EventHubConnection = ReturnType<typeof openEventHubConnection>;

/** The connection to the hub's event endpoint. It and its subscriptions are replaced when they fall silent. */
export function openEventHubConnection(options: EventHubConnectionOptions) {
  const { access, consumerGroup, silentMs, log, troubles } = options;
  let client = newClient();

  function newClient() {
    const opened = openEventClient(access, consumerGroup, {
      loadBalancingOptions: { updateIntervalInMs: 1_000 }, // how soon the SDK resumes a partition after an error
      retryOptions: { retryDelayInMs: 500, maxRetryDelayInMs: 5_000 },
    });
    receiveAtOnce(opened);
    return opened;
  }

  const close = (old: EventHubConsumerClient) =>
    within(old.close(), closesWithinMs).catch((err) => log.debug({ err }, 'a hub connection did not close cleanly'));

  function replace() {
    void close(client);
    client = newClient();
  }

  function reconnect(sessions: readonly Pick<PartitionSession, 'reader'>[]) {
    replace();
    for (const { reader } of sessions) reader.restart(client);
  }

  return {
    client: () => client,
    /** Replaces silent subscriptions; when all are silent, the connection too (SDK traps 11 to 17). */
    revive(sessions: readonly PartitionSession[]) {
      const silent = sessions.filter(({ reader }) => reader.quietMs('subscribed', 'heard') > silentMs);
      // A refusal by the hub counts as an answer: a new subscription would not change it.
      const untold = silent.filter(({ reader }) => reader.quietMs('heard', 'refused') > silentMs);
      if (untold.length > 0) {
        const fields = { partitions: untold.map(({ record }) => record.partition) };
        troubles.raise(silence, { level: 'warn', message: 'no sign of life from the hub: subscribing again', fields });
      } else if (sessions.every(({ reader }) => reader.quietMs('heard', 'refused') < silentMs)) troubles.clear(silence);
      if (silent.length === 0) return;
      // A new subscription is not proof that the connection works, and does not count here.
      const nothingIsHeard = sessions.every(({ reader }) => reader.quietMs('heard') > silentMs || reader.isTakingIn());
      if (nothingIsHeard) reconnect(sessions);
      else for (const { reader } of silent) reader.restart(client);
    },
    replace,
    reconnect,
    /** The hub refuses the key: looks for another one, whose users are told (D397). */
    refused() {
      if (isSecret(access)) void renewed(access, currentOf(access));
    },
    close: () => close(client),
  };
}

/** A client of the event endpoint, by its connection string, or of a routed event hub with an identity. */
export function openEventClient(access: EventsAccess, consumerGroup: string, options: EventHubConsumerClientOptions) {
  const host = isSecret(access) ? (/Endpoint=sb:\/\/([^/;]+)/.exec(currentOf(access))?.[1] ?? '') : access.namespace;
  const webSocketOptions = overWebSockets()?.eventWebSockets(host);
  const withTransport = { ...options, ...(webSocketOptions && { webSocketOptions }) };
  if (isSecret(access)) return new EventHubConsumerClient(consumerGroup, currentOf(access), withTransport);
  const { namespace, eventHub, credential } = access;
  const { hostname, port } = new URL(`http://${namespace}`);
  return new EventHubConsumerClient(consumerGroup, hostname, eventHub, credential, {
    ...withTransport,
    ...(port !== '' && { customEndpointAddress: `sb://${namespace}` }),
  });
}
