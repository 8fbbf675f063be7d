import { randomUUID } from 'node:crypto';
import { serveHealth } from 'telemetry/healthServer.ts';
import { withFields } from 'telemetry/log.ts';
import { createStandstillWatch } from '../concurrency/standstill.ts';
import { createArrivals } from '../dispatch/recognition.ts';
import { createBudget } from '../engine/budget/budget.ts';
import { createPace } from '../engine/budget/pace.ts';
import { createSuspectsInWork } from '../engine/quarantine/suspectsInWork.ts';
import { openSpool } from '../engine/spool/spool.ts';
import { balanceLimits } from '../hub/reading/balance.ts';
import { createConsumer } from '../hub/reading/consumer.ts';
import { openBuildRecord } from '../hub/stores/openBuildRecord.ts';
import { openStore } from '../hub/stores/openStore.ts';
import { accessOf } from '../identity/access.ts';
import type { Log } from '../log/log.ts';
import { createTroubles } from '../log/troubles.ts';
import { type Metrics, openMetrics } from '../metrics/exposition.ts';
import { createStoreRecords } from '../observing/storeRecords.ts';
import { thisBuild, versionOfBuild } from '../operations/build.ts';
import { observeService } from '../operations/gauges.ts';
import { openAdmin } from '../operations/openAdmin.ts';
import { serviceRoutes } from '../operations/serviceRoutes.ts';
import { logStarted } from '../operations/started.ts';
import { tapRoute } from '../operations/tapRoute.ts';
import type { Arrival } from '../protocol/arrival.ts';
import { bytesToReserve } from '../protocol/body.ts';
import type { Settings } from '../settings/config.ts';
import { eventHubNameOf, healthAddress, partitionShare, roundMs, standstillMs } from '../settings/derived.ts';
import { directoriesOf } from '../settings/directories.ts';
import {
  checkpointEveryMessages,
  deviceMessages,
  leastMessages,
  messageLimits,
  reading,
  spoolLimits,
  stuckAfterMs,
  timing,
} from '../settings/groups/constants.ts';
import { secretsOf } from '../settings/secrets.ts';
import { createTaps } from '../tap/taps.ts';
import type { Traces } from '../tracing/span.ts';
import { createHandling } from './handling.ts';

/** The running service. */
export interface Service {
  /** Stops intake, finishes what it can, checkpoints, closes. */
  stop(): Promise<void>;
}

/**
 * The only wiring: settings → backends, sender, dispatch, consumer, health.
 * @throws Error when the checkpoints cannot be read or the health port is not available
 */
export async function startService(
  settings: Settings,
  log: Log,
  instance: string = randomUUID(),
  traces?: Traces,
  metrics: Metrics = metricsOf(instance, log),
): Promise<Service> {
  const { hub, delivery, http } = settings;
  const taps = createTaps();
  const hubName = eventHubNameOf(hub);
  const { meter } = metrics;
  const amounts = () => ({ waiting: consumer.waiting() });
  const stores = createStoreRecords(meter);
  const troubles = createTroubles(log, amounts);
  const access = accessOf(settings, troubles);
  const handling = createHandling(settings, log, {
    amounts,
    meter,
    stores,
    traces,
    taps,
    beforeEffect: () => standstill.look(),
    access,
  });
  const { replies, backends, dispatch, requirementOf, deadLetters } = handling;
  const arrivals = createArrivals({ hub: hubName, meter, log, taps });
  const pace = createPace({ least: leastMessages, most: delivery.maxMessages, inLine: backends.waiting });
  const overall = createBudget(delivery, undefined, pace);
  const share = partitionShare(delivery);
  const suspectsInWork = createSuspectsInWork();

  const consumer = createConsumer({
    ...reading,
    instance,
    access: access.events(),
    consumerGroup: hub.consumerGroup,
    startPosition: hub.startPosition as 'earliest' | 'latest',
    drainMs: delivery.drainSeconds * 1000,
    roundMs: roundMs(timing.expirySeconds),
    answerMs: 20_000,
    balance: balanceLimits(timing.expirySeconds * 1000, delivery.drainSeconds * 1000),
    store: await openStore(settings, stores, access),
    log,
    meter,
    taps,
    sessionBegins: deadLetters.takenOver,
    partition: (partition) => ({
      budget: createBudget(share, overall),
      spool: openSpool(directoriesOf(settings.data).spool, `${process.pid}-${partition}-${Date.now()}`, spoolLimits),
      quarantine: {
        mostSuspects: share.maxMessages,
        suspectsInWork,
        log: withFields(log, { partition }),
        meter,
      },
      limits: {
        everyMessages: checkpointEveryMessages,
        everyMs: timing.checkpointSeconds * 1000,
        deviceMessages,
      },
      arrivalOf: arrivals.of(partition),
      onRead: arrivals.read,
      costOf: (event) => bytesToReserve(event, messageLimits.maxInflatedBytes),
      requirementOf,
      publisherOf: ({ deviceId, event: { sequenceNumber }, origin }: Arrival) =>
        taps.of(deviceId, { partition: origin.partition, sequenceNumber }),
      dispatch,
    }),
  });

  const standstill = createStandstillWatch(standstillMs(timing.expirySeconds), consumer.stoodStill);

  const server = await serveHealth(healthAddress(http), {
    missing: () => [...consumer.missing(), ...replies.missing()],
    stuck: () => (consumer.silentForMs() < stuckAfterMs ? [] : ['an answer of the hub or the checkpoint store']),
    metrics: metrics.text,
  });
  observeService(meter, { budget: overall, pace, consumer, backends, sender: replies.sender });
  log.info({ port: server.port }, 'health is served at /livez and /readyz');
  const admin = await openAdmin(
    settings,
    log,
    { program: 'service', instance, ...thisBuild(process.env) },
    {
      ...serviceRoutes({
        ...{ backends, replies, consumer, instance },
        limits: { drainSeconds: delivery.drainSeconds, replySeconds: timing.replySeconds },
      }),
      '/tap': tapRoute(taps, secretsOf(settings), () => ({
        instance,
        partitions: consumer.partitions().map(({ partition }) => partition),
      })),
    },
  );
  consumer.start();
  void logStarted(openBuildRecord(settings, stores, access), thisBuild(process.env), access.ways(), log);
  void replies.connection.open();

  return {
    async stop() {
      await consumer.stop();
      standstill.stop();
      troubles.close();
      await Promise.all([handling.close(), server.close(), metrics.close(), admin.close()]);
      log.info(metrics.summary(), 'stopped');
    },
  };
}

function metricsOf(instance: string, log: Log): Metrics {
  return openMetrics({
    service: 'device-messaging',
    version: versionOfBuild(process.env),
    instance,
    env: process.env,
    log,
  });
}
