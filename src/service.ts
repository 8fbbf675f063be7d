import type { Settings } from './config.ts';
import { createHandling } from './handling.ts';
import { createBudget } from './hub/partition/budget.ts';
import { mapBytesFor } from './hub/partition/completionMap.ts';
import { openSpool } from './hub/partition/spool.ts';
import { createConsumer } from './hub/reading/consumer.ts';
import { openStore } from './hub/stores/openStore.ts';
import type { Log } from './log.ts';
import { startOperationsServer } from './operations/http.ts';
import { classify, senderOf } from './protocol/event.ts';

/** Looking after the partitions for so long in vain is a reason to be restarted. */
const stuckAfterMs = 5 * 60_000;

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
  const { hub, delivery, scaling, checkpoints, http } = settings;
  const hubName = /EntityPath=([^;]+)/.exec(hub.eventsConnectionString)?.[1] ?? '';
  const handling = createHandling(settings, log);
  const { counters, connection, dispatch } = handling;
  const overall = createBudget(delivery);
  const partitionLimits = { maxMessages: delivery.partitionMessages, maxBytes: delivery.partitionBytes };

  const consumer = createConsumer({
    ...hub,
    connectionString: hub.eventsConnectionString,
    startPosition: hub.startPosition as 'earliest' | 'latest',
    drainMs: delivery.drainSeconds * 1000,
    roundMs: scaling.roundSeconds * 1000,
    answerMs: 20_000,
    silentMs: hub.maxWaitSeconds * 3_000 + 5_000,
    balance: { expiryMs: scaling.expirySeconds * 1000, forceMs: delivery.drainSeconds * 1000 + 15_000 },
    store: await openStore(settings),
    log,
    partition: (partition) => ({
      budget: createBudget(partitionLimits, overall),
      spool: openSpool(delivery.spoolDirectory, `${process.pid}-${partition}-${Date.now()}`, {
        maxBytes: delivery.spoolBytes,
        maxMessages: delivery.spoolMessages,
      }),
      limits: {
        everyMessages: checkpoints.everyMessages,
        everyMs: checkpoints.everySeconds * 1000,
        deviceMessages: delivery.deviceMessages,
        maxMapBytes: mapBytesFor(delivery.spoolMessages + delivery.partitionMessages),
      },
      arrivalOf(event, mayBeRepeat) {
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
        return { event, generation, deviceId, origin: { hub: hubName, partition }, mayBeRepeat };
      },
      dispatch,
    }),
  });

  const server = await startOperationsServer(http.host, http.port, {
    missing: () => [
      ...(consumer.isReading() ? [] : ['a partition of the hub to read']),
      ...(connection.isOpen() ? [] : ['the hub’s service endpoint']),
    ],
    stuck: () => (consumer.silentForMs() < stuckAfterMs ? [] : ['an answer of the hub or the checkpoint store']),
  });
  log.info({ port: server.port }, 'health is served at /livez and /readyz');
  consumer.start();
  void connection.open();

  return {
    async stop() {
      await consumer.stop();
      await Promise.all([handling.close(), server.close()]);
      log.info({ ...counters }, 'stopped');
    },
  };
}
