import { setTimeout as sleep } from 'node:timers/promises';
import { createExposition } from '@device-messaging/telemetry/exposition.ts';
import { serveHealth } from '@device-messaging/telemetry/health.ts';
import { observeProcess } from '@device-messaging/telemetry/process.ts';
import { type Configuration, type ConfigurationFileRead, watchConfiguration } from './configuration/read.ts';
import { connectToHub } from './hub/hubConnection.ts';
import { createConcurrencyLimit, createProxy, type EdgeProxy } from './invocations/proxy.ts';
import { createSetups } from './invocations/setups.ts';
import { connectToBroker } from './modules/brokerConnection.ts';
import { createDroppedReplies } from './modules/messages.ts';
import { type Log, version } from './observing/log.ts';
import { createMeter } from './observing/metrics.ts';

/** The hub's client does not report when a response has been sent. */
const flushMs = 250;

/**
 * The only wiring: hub ⇄ invocations ⇄ modules. Starts even if hub and broker cannot be reached.
 * @param file is read again when it changes; undefined: never
 * @throws Error when the health port cannot be opened
 */
export async function startEdge(configuration: Configuration, log: Log, file?: ConfigurationFileRead) {
  const meter = createMeter();
  const droppedReplies = createDroppedReplies(log, meter);
  const concurrency = createConcurrencyLimit(() => setups.current().configuration.limits);
  /** Nothing is in progress, and the last response is on its way (D398). */
  async function untilQuiet(): Promise<void> {
    do {
      await concurrency.idle();
      await sleep(flushMs);
    } while (concurrency.inFlight > 0);
  }
  const setups = createSetups({
    ...{ configuration, log, meter },
    resubscribe: () => broker.resubscribe(),
    reconnect: (peer) => void untilQuiet().then(peer === 'hub' ? hub.renew : broker.renew),
  });
  await setups.prepareFolders();
  let isStopping = false;
  const missing = () =>
    [isStopping ? 'the end of the stop' : undefined, hub.waitingFor(), broker.waitingFor()].filter(
      (reason) => reason !== undefined,
    );
  const address = { ...configuration.health, settings: { host: 'health.host', port: 'health.port' } };
  const metrics = createExposition(meter, { 'service.name': 'edge-proxy', 'service.version': version() });
  const health = await serveHealth(address, { missing, remarks: setups.remarks, metrics });
  const broker = connectToBroker({
    access: () => setups.current().configuration.broker,
    topics: setups.topics,
    onReply: (reply) => proxy.receive(reply),
    ...{ log, meter },
  });
  const proxy: EdgeProxy = createProxy({
    setup: setups.current,
    broker: broker.current,
    topics: setups.topics,
    ...{ concurrency, droppedReplies, log, meter },
  });
  const hub = connectToHub({
    access: () => setups.current().configuration.hub,
    onInvocation: proxy.invoke,
    isIdle: () => concurrency.inFlight === 0,
    ...{ log, meter },
  });
  meter.observe('device_messaging.edge.invocations', () => [[concurrency.inFlight]]);
  meter.observe('device_messaging.edge.connected', () => [
    [hub.current() ? 1 : 0, 'hub'],
    [broker.current() ? 1 : 0, 'broker'],
  ]);
  const stopObserving = observeProcess(meter);
  const watch = file && watchConfiguration(file, setups);
  const { modules } = configuration;
  log.info({ modules: modules.length, healthPort: health.port }, 'started; health is served at /livez and /readyz');

  return {
    healthPort: health.port,
    /** Accepts no more invocations, waits for those in progress, then disconnects. */
    async stop() {
      isStopping = true;
      watch?.close();
      proxy.stop();
      const { drainSeconds } = setups.current().configuration.limits;
      const isDrained = await Promise.race([
        concurrency.idle().then(() => true),
        sleep(drainSeconds * 1000, false, { ref: false }),
      ]);
      if (!isDrained) {
        log.warn({ inFlight: concurrency.inFlight }, 'aborting the invocations in progress: the drain time is over');
        proxy.abort();
        await concurrency.idle();
      }
      await sleep(flushMs);
      await Promise.all([hub.close(), broker.close(), health.close()]);
      droppedReplies.close();
      stopObserving();
      log.info({}, 'stopped');
    },
  };
}
