import { createBackends } from './backends/backends.ts';
import type { Settings } from './config.ts';
import { createDispatch } from './dispatch.ts';
import { createBudget } from './hub/budget.ts';
import { createCheckpointFile } from './hub/checkpointFile.ts';
import { createCheckpointStore } from './hub/checkpointStore.ts';
import { createConsumer } from './hub/consumer.ts';
import { cureHubSdks } from './hub/sdkCures.ts';
import { createSender } from './hub/sender.ts';
import { createServiceConnection, newServiceClient } from './hub/serviceConnection.ts';
import type { Log } from './log.ts';
import { createCounters } from './operations/counters.ts';
import { startOperationsServer } from './operations/http.ts';
import { classify, senderOf } from './protocol/event.ts';

/** The running service. */
export interface Service {
  /** Stops intake, finishes what it can, checkpoints, closes. */
  stop(): Promise<void>;
}

/**
 * The only wiring: settings → backends, sender, dispatch, consumer, health.
 * @throws Error when the checkpoints cannot be read or the health port cannot be had
 */
export async function startService(settings: Settings, log: Log): Promise<Service> {
  cureHubSdks();
  const { hub, delivery, replies, checkpoints, messages, http } = settings;
  const hubName = /EntityPath=([^;]+)/.exec(hub.eventsConnectionString)?.[1] ?? '';
  const counters = createCounters();
  const backends = createBackends(settings.backends, log.child({ part: 'backends' }));
  const connection = createServiceConnection(
    () => newServiceClient(hub.serviceConnectionString),
    replies.sendTimeoutSeconds * 1000,
    log,
  );
  const sender = createSender({
    sendOnce: connection.send,
    maxWaitMs: replies.maxWaitSeconds * 1000,
    maxInFlight: replies.maxInFlight,
    random: Math.random,
    now: Date.now,
  });
  const dispatch = createDispatch({ backends, sender, counters, log, limits: messages, now: () => new Date() });
  const budget = createBudget(delivery);

  const consumer = createConsumer({
    ...hub,
    connectionString: hub.eventsConnectionString,
    startPosition: hub.startPosition as 'earliest' | 'latest',
    drainMs: delivery.drainSeconds * 1000,
    store: createCheckpointStore(
      checkpoints.store === 'file' ? createCheckpointFile(checkpoints.directory) : undefined,
    ),
    log,
    partition: (partition) => ({
      budget,
      everyMessages: checkpoints.everyMessages,
      everyMs: checkpoints.everySeconds * 1000,
      arrivalOf(event) {
        const generation = classify(event);
        if (generation === undefined) {
          counters.skipped += 1;
          return undefined;
        }
        const deviceId = senderOf(event, hub.deviceIdProperty);
        if (deviceId === undefined) {
          counters.unattributed += 1;
          log.warn(
            { partition, sequenceNumber: event.sequenceNumber },
            'message without the hub’s device stamp passed over',
          );
          return undefined;
        }
        return { event, generation, deviceId, origin: { hub: hubName, partition } };
      },
      dispatch,
    }),
  });

  const server = await startOperationsServer(http.host, http.port, () => [
    ...(consumer.isReading() ? [] : ['a partition of the hub to read']),
    ...(connection.isOpen() ? [] : ['the hub’s service endpoint']),
  ]);
  log.info({ port: server.port }, 'health is served at /livez and /readyz');
  consumer.start();
  void connection.open();

  return {
    async stop() {
      backends.release();
      await consumer.stop();
      sender.stop();
      await Promise.all([connection.close(), backends.close(), server.close()]);
      log.info({ ...counters }, 'stopped');
    },
  };
}
