import { randomUUID } from 'node:crypto';
import { serveHealth } from '@device-messaging/telemetry/health.ts';
import { accessOf } from '../access/access.ts';
import { openAdmin } from '../admin/adminServer.ts';
import { tapRoute } from '../admin/tapRoute.ts';
import { createProcessPauseWatch } from '../concurrency/clocks.ts';
import { createAdaptiveLimit, createBudget } from '../engine/budget.ts';
import { createBacklog } from '../engine/rooms.ts';
import { useHubTransport } from '../hub/hubTransport.ts';
import { createStoreRecords } from '../observing/callRecords.ts';
import { createTroubles, type Log } from '../observing/log.ts';
import { type Metrics, openMetrics } from '../observing/metrics.ts';
import type { Traces } from '../observing/observation.ts';
import { createTaps } from '../observing/taps.ts';
import { observeService } from '../operations/gauges.ts';
import { serviceRoutes, shownWork } from '../operations/serviceRoutes.ts';
import type { Settings } from '../settings/config.ts';
import { backlogLimits, leastMessages, stuckAfterMs, timing } from '../settings/constants.ts';
import { healthAddress, processPauseMs, thisBuild, versionOfBuild } from '../settings/derived.ts';
import { secretsOf } from '../settings/secrets.ts';
import { createHandling } from './handling.ts';
import { createReading } from './reading.ts';

/** The only wiring of the service. @throws Error when the checkpoints cannot be read or the health port is not available */
export async function startService(
  settings: Settings,
  log: Log,
  instance: string = randomUUID(),
  traces?: Traces,
  metrics: Metrics = metricsOf(instance, log),
) {
  const { hub, delivery, http } = settings;
  await useHubTransport(hub);
  const taps = createTaps();
  const { meter } = metrics;
  const amounts = () => ({ waiting: consumer.waiting() });
  const stores = createStoreRecords(meter);
  const troubles = createTroubles(log, amounts);
  const access = accessOf(settings, { log, troubles });
  const beforeEffect = () => {
    processPause.look();
    consumer.lookForContact();
  };
  const handling = createHandling(settings, log, { amounts, meter, stores, traces, taps, beforeEffect, access });
  const { replies, backends } = handling;
  const limits = { ...delivery, sleepingBytes: settings.replies.fullQueueBytes };
  const { maxMessages: most } = limits;
  const adaptiveLimit = createAdaptiveLimit({ least: leastMessages, most, inLine: backends.waiting });
  const overall = createBudget(limits, undefined, adaptiveLimit);
  const backlog = createBacklog(backlogLimits);
  let failedOver = () => {};
  const restart = new Promise<void>((resolve) => {
    failedOver = resolve;
  });
  const parts = { instance, access, handling, overall, backlog, log, troubles, meter, stores, taps, failedOver };
  const consumer = await createReading(settings, parts);
  const processPause = createProcessPauseWatch(processPauseMs(timing.expirySeconds), consumer.stoodStill);

  const missing = () => [...consumer.missing(), ...replies.missing()];
  meter.observe('device_messaging.ready', () => [[missing().length === 0 ? 1 : 0]]);
  const server = await serveHealth(healthAddress(http), {
    missing,
    stuck: () => (consumer.silentForMs() < stuckAfterMs ? [] : ['an answer of the hub or the checkpoint store']),
    metrics: metrics.text,
  });
  observeService(meter, { budget: overall, backlog, adaptiveLimit, consumer, backends, sender: replies.sender });
  log.info({ port: server.port }, 'health is served at /livez and /readyz');
  const heldBy = (device: string) => ({
    instance,
    partitions: consumer.partitions().map(({ partition }) => partition),
    held: consumer.devices(device).map((work) => shownWork(work, backends.states(), new Set()))[0],
  });
  const routes = {
    ...serviceRoutes({ backends, replies, consumer, instance, deadLetters: handling.deadLetters }),
    '/tap': tapRoute(taps, () => secretsOf(settings), heldBy),
  };
  const about = { program: 'service', instance, ...thisBuild(process.env) };
  const admin = await openAdmin(settings, log, about, routes, access.adminToken());
  consumer.start();
  log.info({ ...thisBuild(process.env), access: access.ways() }, 'started');
  void replies.connection.open();

  return {
    /** Resolves when the hub has failed over: the process is to stop, and to be started again (D402). */
    restart,
    async stop() {
      await consumer.stop();
      processPause.stop();
      access.close();
      troubles.close();
      await Promise.all([handling.close(), server.close(), metrics.close(), admin.close()]);
      log.info(metrics.summary(), 'stopped');
    },
  };
}

const metricsOf = (instance: string, log: Log): Metrics =>
  openMetrics({ service: 'device-messaging', version: versionOfBuild(process.env), instance, env: process.env, log });
