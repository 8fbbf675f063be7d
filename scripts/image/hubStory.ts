import { once } from 'node:events';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { isDeepStrictEqual, promisify } from 'node:util';
import { developmentHub } from 'iot-hub-emulator';
import { execFile, spawn } from '../../sandbox/service/endWithUs.ts';
import { launcher, projectDirectory } from '../../sandbox/state/directories.ts';
import type { Printer } from '../../sandbox/terminal/print.ts';
import { type Container, childOf } from './container.ts';
import { proveThatNothingCanBeWritten } from './edgeStory.ts';
import type { Image } from './followDockerfile.ts';
import type { Network } from './network.ts';

const execute = promisify(execFile);

const stranger = { uid: 65_534, gid: 65_534 };

/** A hub that everybody knows, with what a volume keeps. */
const options = ['--admin-host', '0.0.0.0', '--persist', '/data'];

/**
 * The image of the hub emulator serves every official client of another machine with the published connection strings, and has after
 * a restart what it had before. Rejects when it does not.
 */
export async function proveHub(
  image: Image,
  { container, network, signal }: { container: Container; network: Network; signal: AbortSignal },
  printer: Printer,
): Promise<void> {
  await proveThatNothingCanBeWritten(container, image.environment);
  const ask = async (...words: string[]) => {
    const printed = await container.run(
      ['dist/main.js', ...words, '--directory', '/data', '--json'],
      image.environment,
    );
    return JSON.parse(printed);
  };
  const first = await start(image, container, signal);
  printer.progress('Nothing but the volume can be written; the health check passes');
  await proveVolume(container);
  const worked = await clients(image, container, network);
  printer.progress(`From another network namespace: ${worked.join('; ')}`);
  await ask('devices', 'add', 'kept');
  await ask('devices', 'send', 'kept', 'a message that waits');
  const state = async () => ({
    devices: (await ask('devices')).devices.map((one: { deviceId: string; generationId: string }) => one.generationId),
    queue: await ask('devices', 'queue', 'kept'),
    twin: await ask('devices', 'twin', 'kept'),
    events: (await ask('partitions')).partitions.map((one: { nextSequenceNumber: number }) => one.nextSequenceNumber),
  });
  const before = await state();
  await first.stop();
  const second = await start(image, container, signal);
  const after = await state();
  await second.stop();
  if (before.queue.messages.length !== 1 || !isDeepStrictEqual(after, before))
    throw new Error(`After a restart: ${JSON.stringify(after)}, before: ${JSON.stringify(before)}`);
  printer.progress('After a restart it has the same devices, queues, twins and events');
}

/** Starts the image's command, until its health check passes. */
async function start(image: Image, container: Container, signal: AbortSignal): Promise<{ stop(): Promise<void> }> {
  const [program = '', ...words] = container.isolated([...image.command, ...options]);
  const hub = spawn(program, words, { env: { ...image.environment }, stdio: ['ignore', 'ignore', 'pipe'] });
  let said = '';
  hub.stderr.on('data', (text) => {
    said += text;
  });
  const ended = once(hub, 'exit');
  const healthy = () =>
    container.run(image.healthCheck.slice(1), image.environment).then(
      () => true,
      () => false,
    );
  while (!(await healthy())) {
    signal.throwIfAborted();
    if (hub.exitCode !== null) throw new Error(`The hub ended with ${hub.exitCode}: ${said}`);
    await sleep(100);
  }
  return {
    async stop() {
      process.kill(await childOf(Number(hub.pid)), 'SIGTERM');
      const [code] = await ended;
      if (code !== 0) throw new Error(`The hub did not stop cleanly: ${code}, ${said}`);
    },
  };
}

/** Programs of other users, which mount the volume, can read its authority, and no key. */
async function proveVolume(container: Container): Promise<void> {
  const read = (name: string) => execute('cat', [container.real(`/data/keys/${name}`)], stranger);
  await read('ca.pem');
  const isRead = await read('ca.key').then(
    () => true,
    () => false,
  );
  if (isRead) throw new Error('Everybody can read the key of the authority');
}

async function clients(image: Image, container: Container, { client }: Network): Promise<readonly string[]> {
  const { name, keys, adminToken } = developmentHub;
  const policy = (of: string) => `SharedAccessKeyName=${of};SharedAccessKey=${keys.primaryKey}`;
  const development = join(image.root, image.workdir, 'development');
  const given = {
    device: `HostName=${name};DeviceId=device-1;SharedAccessKey=${keys.primaryKey}`,
    x509: {
      connectionString: `HostName=${name};DeviceId=device-x509;x509=true`,
      cert: join(development, 'device-x509.pem'),
      key: join(development, 'device-x509.key'),
    },
    owner: `HostName=${name};${policy('iothubowner')}`,
    events: `Endpoint=sb://${name};${policy('events')};EntityPath=${name};UseDevelopmentEmulator=true`,
    admin: { url: `http://${name}:8080`, token: adminToken },
  };
  const program = join(projectDirectory, 'iot-hub-emulator/test/support/clientsElsewhere.ts');
  const [command = '', ...words] = [...client, process.execPath, launcher, program, JSON.stringify(given)];
  const env = { ...process.env, NODE_EXTRA_CA_CERTS: container.real('/data/keys/ca.pem') };
  return JSON.parse((await execute(command, words, { env })).stdout);
}
