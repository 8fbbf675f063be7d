import { createArrivals } from './arrivals.ts';
import type { Settings } from './config.ts';
import { createHandling } from './handling.ts';
import { createBudget } from './hub/partition/budget.ts';
import { openSpool } from './hub/partition/spool.ts';
import { balanceLimits } from './hub/reading/balance.ts';
import { createConsumer } from './hub/reading/consumer.ts';
import { openStore } from './hub/stores/openStore.ts';
import type { Log } from './log.ts';
import { startOperationsServer } from './operations/http.ts';
import { bytesToReserve } from './protocol/body.ts';
import { directoriesOf } from './settings/directories.ts';

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
  const { hub, delivery, messages, scaling, checkpoints, http } = settings;
  const hubName = /EntityPath=([^;]+)/.exec(hub.eventsConnectionString)?.[1] ?? '';
  const handling = createHandling(settings, log);
  const { counters, connection, dispatch, requirementOf } = handling;
  const arrivalsOf = createArrivals({ hub: hubName, stamp: hub.deviceIdProperty, counters, log });
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
    balance: balanceLimits(scaling.expirySeconds * 1000, delivery.drainSeconds * 1000),
    store: await openStore(settings),
    log,
    partition: (partition) => ({
      budget: createBudget(partitionLimits, overall),
      spool: openSpool(directoriesOf(settings.data).spool, `${process.pid}-${partition}-${Date.now()}`, {
        maxBytes: delivery.spoolBytes,
        maxMessages: delivery.spoolMessages,
      }),
      quarantine: {
        mostSuspects: delivery.partitionMessages,
        longestMs: messages.maxTimeoutSeconds * 1000,
        log: log.child({ partition }),
      },
      limits: {
        everyMessages: checkpoints.everyMessages,
        everyMs: checkpoints.everySeconds * 1000,
        deviceMessages: delivery.deviceMessages,
      },
      arrivalOf: arrivalsOf(partition),
      costOf: (event) => bytesToReserve(event, messages.maxInflatedBytes),
      requirementOf,
      dispatch,
    }),
  });

  const server = await startOperationsServer(http.host, http.port, {
    missing: () => [...consumer.missing(), ...(connection.isOpen() ? [] : ['the hub’s service endpoint'])],
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
