import { chown, copyFile, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { startHub } from 'iot-hub-emulator';
import mqtt from 'mqtt';
import { startBroker } from '../../sandbox/edge/broker.ts';
import { freePort } from '../../sandbox/service/freePort.ts';
import type { Printer } from '../../sandbox/terminal/print.ts';
import type { Container, Mount } from './container.ts';
import type { Image } from './followDockerfile.ts';
import { stop } from './service.ts';

const objectId = '6b0e4d7c-5a33-4d8c-9a1e-2f1c0f6a7b10';
const topics = { topics_methods_in: 'press/in', topics_methods_out: 'press/out' };
const users = {
  proxy: { password: 'p', publish: ['press/in/#'], subscribe: ['press/out/#'] },
  press: { password: 'p', publish: ['press/out/#'], subscribe: ['press/in/#'] },
};

/** A module of a device is invoked through the image of the edge proxy, which runs as the image's user. Rejects when it is not. */
export async function proveEdge(
  image: Image,
  containerWith: (mounts: readonly Mount[]) => Container,
  directory: string,
  printer: Printer,
): Promise<void> {
  const hub = await startHub({ directory: join(directory, 'hub'), devices: [{ deviceId: 'edge-1' }] });
  const broker = await startBroker({ users });
  try {
    const port = await freePort();
    const volume = join(directory, 'press');
    await mkdir(volume);
    const container = containerWith([
      { from: directory, to: '/config' },
      { from: volume, to: '/config/press', writable: true },
    ]);
    if (container.user) await chown(volume, container.user.uid, container.user.gid);
    await copyFile(hub.caFile, join(directory, 'ca.pem'));
    const configuration = {
      hub: { connectionString: hub.deviceConnectionString('edge-1'), caFile: 'ca.pem' },
      broker: { url: broker.url, username: 'proxy', password: 'p' },
      modules: [{ id: 'press', objectIds: [objectId], ...topics, files: { folder: 'press' } }],
      health: { host: '127.0.0.1', port },
    };
    const file = join(directory, 'edge-proxy.jsonc');
    await writeFile(file, JSON.stringify(configuration), { mode: 0o644 });
    const environment = {
      ...image.environment,
      EDGE_PROXY_CONFIG: '/config/edge-proxy.jsonc',
      HEALTH_PORT: String(port),
    };
    const checked = await container.run([...image.command.slice(1), '--check-config'], environment);
    if (!checked.includes('is valid')) throw new Error(`--check-config said: ${checked}`);
    await proveThatNothingCanBeWritten(container, environment);
    printer.progress(`Nothing of the image can be written`);

    const service = await container.start(image.command, {
      ...{ name: 'The edge proxy', environment, readyzUrl: `http://127.0.0.1:${port}/readyz` },
      logFile: join(directory, 'edge.log'),
    });
    try {
      await container.run(image.healthCheck.slice(1), environment);
      await invoke(hub, broker.url);
      await stop(service);
      printer.progress(`Ready after ${Math.round(service.readyAfterMs)} ms, health check passed, a module was invoked`);
    } finally {
      await service.kill();
    }
  } finally {
    await Promise.all([hub.close(), broker.close()]);
  }
}

export async function proveThatNothingCanBeWritten(
  container: Container,
  environment: Record<string, string>,
): Promise<void> {
  const script = "require('node:fs').writeFileSync('written', '')";
  const failure = await container.run(['-e', script], environment).then(
    () => undefined,
    (error: Error) => error,
  );
  if (!failure?.message.includes('EROFS')) throw new Error('The image’s own folder can be written', { cause: failure });
}

async function invoke(hub: Awaited<ReturnType<typeof startHub>>, url: string): Promise<void> {
  const press = await mqtt.connectAsync(url, { username: 'press', password: 'p' });
  try {
    press.on('message', (topic) => void press.publish(`press/out/7/${topic.split('/').at(-1)}`, ''));
    await press.subscribeAsync('press/in/#');
    const answer = await hub.methods.invoke('edge-1', {
      methodName: 'invokeMethod',
      payload: { correlationId: 'c', objectId, model: 'svc.device', target: '', method: 'stop', timeout: 30 },
      responseTimeoutMs: 30_000,
      connectTimeoutMs: 0,
    });
    const { status, payload } = answer;
    if (status !== 200 || payload !== '{"status":7}') throw new Error(`The edge proxy answered ${status} ${payload}`);
  } finally {
    await press.endAsync(true);
  }
}
