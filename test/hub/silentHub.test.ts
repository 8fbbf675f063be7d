import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { startHub } from 'iot-hub-emulator';
import { inject } from 'iot-hub-emulator/testing';
import { expect, it, onTestFinished } from 'vitest';
import { createConsumer } from '../../src/hub/reading/consumer.ts';
import { cureHubSdks } from '../../src/hub/sdkCures.ts';
import { createMemoryStore } from '../../src/stores/fileCheckpoints.ts';
import { usualOpened, usualReading } from './support/reading.ts';

cureHubSdks();

/** A way to this port on which connections can stay open and carry nothing. */
async function wayTo(port: number) {
  const sockets = new Set<Socket>();
  let isFrozen = false;
  const server = createServer((from) => {
    const to = connect(port, '127.0.0.1');
    for (const [socket, other] of [
      [from, to],
      [to, from],
    ] as const) {
      sockets.add(socket);
      socket.on('error', () => other.destroy()).on('close', () => other.destroy());
      socket.pipe(other);
      if (isFrozen) socket.pause();
    }
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    server.close();
    for (const socket of sockets) socket.destroy();
  });
  return {
    port: (server.address() as AddressInfo).port,
    freeze(frozen: boolean) {
      isFrozen = frozen;
      for (const socket of sockets) frozen ? socket.pause() : socket.resume();
    },
  };
}

it('a hub that becomes silent on open connections is reported, and so is the end of the silence', async () => {
  const hub = await startHub({ partitions: 1 });
  const [, port] = /:(\d+)/.exec(hub.eventsConnectionString) ?? [];
  const way = await wayTo(Number(port));
  const seen: number[] = [];
  const consumer = createConsumer({
    ...usualReading,
    access: hub.eventsConnectionString.replace(`:${port}`, `:${way.port}`),
    silentMs: 60_000, // the client itself goes on reporting an idle partition
    answerMs: 1_000,
    store: createMemoryStore(),
    partition: () => ({
      ...usualOpened(),
      async dispatch({ event }) {
        seen.push(event.sequenceNumber);
        return true;
      },
    }),
  });
  onTestFinished(async () => {
    way.freeze(false);
    await consumer.stop();
    await hub.close();
  });
  consumer.start();
  await inject(hub, ['one']);
  await expect.poll(() => seen).toEqual([0]);
  await expect.poll(() => consumer.partitions()[0]).toMatchObject({ behindSeconds: 0, asOf: expect.any(Number) });
  expect(consumer.missing()).toEqual([]);

  way.freeze(true);
  await expect.poll(() => consumer.missing()).toEqual([expect.stringMatching(/^partition 0 of the hub: /)]);
  expect(consumer.partitions()[0]).toMatchObject({ behindSeconds: null, asOf: expect.any(Number) });

  way.freeze(false);
  await expect.poll(() => consumer.missing()).toEqual([]);
  await expect.poll(() => consumer.partitions()[0]?.behindSeconds).toBe(0);
});
