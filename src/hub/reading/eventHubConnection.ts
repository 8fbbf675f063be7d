import type { EventHubConsumerClient } from '@azure/event-hubs';
import { within } from '../../concurrency/waiting.ts';
import type { EventsAccess } from '../../identity/access.ts';
import { currentOf, isSecret, renewed } from '../../identity/secretFiles.ts';
import type { Log } from '../../log/log.ts';
import type { Troubles } from '../../log/troubles.ts';
import { openEventClient } from './eventClient.ts';
import { receiveAtOnce } from './receiveCycle.ts';
import type { PartitionSession } from './session.ts';

/** The connection to the hub's event endpoint. It and its subscriptions are replaced when they fall silent. */
export interface EventHubConnection {
  client(): EventHubConsumerClient;
  /** Replaces silent subscriptions; when all are silent, the connection too (SDK traps 11 to 17). */
  revive(sessions: readonly PartitionSession[]): void;
  /** Replaces the connection, without its subscriptions. */
  replace(): void;
  /** Replaces the connection and subscribes to all partitions on the new one. */
  reconnect(sessions: readonly Pick<PartitionSession, 'reader'>[]): void;
  /** The hub refuses the key: looks for another one, whose users are told (D397). */
  refused(): void;
  close(): Promise<void>;
}

export interface EventHubConnectionOptions {
  readonly access: EventsAccess;
  readonly consumerGroup: string;
  /** A subscription that reports nothing for this time is replaced; an idle one reports every `maxWaitSeconds`. */
  readonly silentMs: number;
  readonly log: Log;
  /** Of the whole service. */
  readonly troubles: Troubles;
}

const closesWithinMs = 5_000;
const silence = 'silence of the hub';

export function openEventHubConnection(options: EventHubConnectionOptions): EventHubConnection {
  const { access, consumerGroup, silentMs, log, troubles } = options;
  function newClient() {
    const client = openEventClient(access, consumerGroup, {
      loadBalancingOptions: { updateIntervalInMs: 1_000 }, // how soon the SDK resumes a partition after an error
      retryOptions: { retryDelayInMs: 500, maxRetryDelayInMs: 5_000 },
    });
    receiveAtOnce(client);
    return client;
  }

  let client = newClient();

  const close = (old: EventHubConsumerClient) =>
    within(old.close(), closesWithinMs).catch((error) =>
      log.debug({ err: error }, 'a hub connection did not close cleanly'),
    );

  function replace() {
    void close(client);
    client = newClient();
  }

  return {
    client: () => client,
    revive(sessions) {
      const silent = sessions.filter(({ reader }) => reader.quiet().silentMs > silentMs);
      const untold = silent.filter(({ reader }) => reader.quiet().unansweredMs > silentMs);
      if (untold.length > 0) {
        const fields = { partitions: untold.map(({ record }) => record.partition) };
        troubles.raise(silence, { level: 'warn', message: 'no sign of life from the hub: subscribing again', fields });
      } else if (sessions.every(({ reader }) => reader.quiet().unansweredMs < silentMs)) troubles.clear(silence);
      if (silent.length === 0) return;
      // A new subscription is not proof that the connection works, so `deafMs` counts here, not `silentMs`.
      const nothingIsHeard = sessions.every(({ reader }) => reader.quiet().deafMs > silentMs || reader.isTakingIn());
      if (nothingIsHeard) replace();
      for (const { reader } of nothingIsHeard ? sessions : silent) reader.restart(client);
    },
    replace,
    reconnect(sessions) {
      replace();
      for (const { reader } of sessions) reader.restart(client);
    },
    refused() {
      if (isSecret(access)) void renewed(access, currentOf(access));
    },
    close: () => close(client),
  };
}
