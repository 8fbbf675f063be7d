import { setTimeout as sleep } from 'node:timers/promises';
import type { Configuration } from './configuration/read.ts';
import { connectToBroker } from './connections/broker.ts';
import { connectToHub } from './connections/hub.ts';
import { createDropped } from './dropped.ts';
import { createFileInputs } from './files/fileInputs.ts';
import { serveHealth } from './health.ts';
import type { Log } from './log.ts';
import { createMatching } from './matching.ts';
import { createProxy, type EdgeProxy } from './proxy.ts';
import { createRoom } from './room.ts';

/** The running proxy. */
export interface Edge {
  readonly healthPort: number;
  /** Takes no more, finishes what is in work, closes. */
  stop(): Promise<void>;
}

/** For answers to get to the hub before the connection ends. */
const lastAnswersMs = 250;

/**
 * The only wiring: hub ⇄ proxy ⇄ broker. Neither need be there at the start.
 * @throws Error when the port cannot be had
 */
export async function startEdge(configuration: Configuration, log: Log): Promise<Edge> {
  const { modules, limits } = configuration;
  const room = createRoom(limits);
  const dropped = createDropped(log);
  const fileInputs = createFileInputs(configuration);
  for (const { moduleId, cause } of await fileInputs.prepare()) {
    log.error(
      { module: moduleId, cause },
      'the folder of a module cannot be used: its methods with files cannot be invoked',
    );
  }
  let isStopping = false;
  const health = await serveHealth(configuration.health.host, configuration.health.port, () =>
    [isStopping ? 'an end to the stop' : undefined, hub.waitingFor(), broker.waitingFor()].filter(
      (it) => it !== undefined,
    ),
  );
  const broker = connectToBroker({
    broker: configuration.broker,
    modules,
    incoming: (message) => proxy.incoming(message),
    log,
  });
  const proxy: EdgeProxy = createProxy({
    match: createMatching(modules),
    broker: broker.current,
    ...{ fileInputs, room, dropped, log },
  });
  const hub = connectToHub({ ...configuration.hub, invoked: proxy.invoke, isIdle: () => room.inWork === 0, log });
  log.info({ modules: modules.length, healthPort: health.port }, 'started; health is served at /livez and /readyz');

  return {
    healthPort: health.port,
    async stop() {
      isStopping = true;
      proxy.stop();
      const drained = await Promise.race([
        room.empty().then(() => true),
        sleep(limits.drainSeconds * 1000, false, { ref: false }),
      ]);
      if (!drained) {
        log.warn({ inWork: room.inWork }, 'invocations in work are broken off: the stop has taken its time');
        proxy.breakOff();
        await room.empty();
      }
      await sleep(lastAnswersMs);
      await Promise.all([hub.close(), broker.close(), health.close()]);
      dropped.close();
      log.info('stopped');
    },
  };
}
