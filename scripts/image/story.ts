import { readdir } from 'node:fs/promises';
import { demonstrate } from '../../sandbox/demonstration/demonstrate.ts';
import type { Device } from '../../sandbox/device/device.ts';
import { ServiceFailed } from '../../sandbox/service/process.ts';
import { handledLines, residentMegabytes, type Stage, start, stop, waitMs, withDevice } from './service.ts';

const idleMegabytes = 150;

/** From the first message over a dead letter and a restart to the message after it. Rejects when something is not as it must be. */
export async function proveService(stage: Stage): Promise<void> {
  await proveIsolation(stage);
  await proveFirstRun(stage);
  const letter = await onlyLetter(stage);
  stage.printer.progress(`A message that failed through the service’s own side is a dead letter: ${letter}`);
  await proveSecondRun(stage, letter);
  stage.printer.progress('After a restart it went on from its checkpoint, and the dead letter was still there');
}

const look = `
  const { readFileSync, readdirSync } = require('node:fs');
  const rights = readFileSync('/proc/self/status', 'utf8').match(/^Cap(?:Eff|Bnd):.*$/gm).join().replace(/\\s/g, ' ');
  const known = ['app', 'data', 'dev', 'etc', 'lib', 'lib64', 'proc', 'run', 'usr'];
  const foreign = readdirSync('/').filter((name) => !known.includes(name));
  console.log(JSON.stringify({ user: process.getuid(), rights, foreign }));
`;

/**
 * The image's user, no capability, nothing of this machine beside the image. The service itself says when its data directory
 * cannot be written, before it reads anything.
 */
async function proveIsolation(stage: Stage): Promise<void> {
  const { container, image, printer } = stage;
  const seen = (await container.run(['-e', look], image.environment)).trim();
  const expected = {
    user: Number(image.user.split(':')[0]),
    rights: 'CapEff: 0000000000000000,CapBnd: 0000000000000000',
    foreign: [],
  };
  if (seen !== JSON.stringify(expected)) throw new Error(`A program of the image sees ${seen}`);
  const failure = await start(stage, { DATA_DIRECTORY: '.data' }).then(
    async (service) => service.kill(),
    (error: Error) => error,
  );
  const words = 'its file system is read-only';
  if (!(failure instanceof ServiceFailed && failure.message.includes(words)))
    throw new Error(`With a data directory outside the volume the service was to end with: ${words}`, {
      cause: failure,
    });
  printer.progress(`User ${expected.user}, no capabilities, nothing but the volume can be written`);
}

async function proveFirstRun(stage: Stage): Promise<void> {
  const { container, image, environment, printer, sandbox, signal } = stage;
  const service = await start(stage);
  try {
    await container.run(image.healthCheck.slice(1), environment);
    const idle = await residentMegabytes(service.pid);
    printer.progress(
      `Ready after ${Math.round(service.readyAfterMs)} ms, health check passed, ${idle.toFixed(0)} MB resident`,
    );
    if (idle > idleMegabytes) throw new Error(`That is more than ${idleMegabytes} MB`);
    const exchanges = await demonstrate(sandbox, { waitMs, signal });
    printer.progress(`${exchanges.length} messages acknowledged as expected`);
    await proveCommands(stage);
    await withDevice(stage, 'pump-2', async (device) => {
      sandbox.backends.faults.add({ backend: 'principalManager', method: 'PUT', status: 501, deviceId: device.id });
      await exchange(device, 'fails', 'internal_platform_error');
      sandbox.backends.faults.clear();
    });
    await stop(service);
  } finally {
    await service.kill();
  }
}

/** As `docker exec` runs them: they ask the running service. */
async function proveCommands({ container, environment, printer }: Stage): Promise<void> {
  const { program } = JSON.parse(await container.run(['dist/admin.js'], environment));
  if (program !== 'service') throw new Error(`admin.js has asked another program: ${program}`);
  const followed = await container.run(['dist/tap.js', '--device', 'pump-1', '--seconds', '1'], environment);
  if (!followed.includes('following')) throw new Error(`tap.js said: ${followed}`);
  printer.progress('The commands admin and tap reach the service');
  const found = await container.run(['dist/check.js', '--init'], environment);
  if (!/ 0 ✗ /.test(found)) throw new Error(`check.js said: ${found}`);
  printer.progress('The command check finds nothing wrong beside it');
}

/** Nothing is handled again, what came meanwhile is, and the dead letter is still there. */
async function proveSecondRun(stage: Stage, letter: string): Promise<void> {
  const { length: before } = await handledLines(stage);
  await withDevice(stage, 'pump-1', async (device) => {
    await send(device, 'meanwhile');
    const service = await start(stage);
    try {
      await receive(device, 'ok');
      await stop(service);
    } finally {
      await service.kill();
    }
  });
  const since = (await handledLines(stage)).slice(before);
  if (since.length !== 1 || !since[0]?.includes('"correlationId":"meanwhile"'))
    throw new Error(`After a restart one message was to be handled, not ${since.length}:\n${since.join('\n')}`);
  const now = await onlyLetter(stage);
  if (now !== letter) throw new Error(`After a restart the dead letter is another one: ${now}`);
}

/** The line that the operator’s command shows for it, which lies in the volume. */
async function onlyLetter({ container, image, environment }: Stage): Promise<string> {
  const listed = (await container.run(['dist/deadLetters.js', 'list'], environment)).trim();
  const volumes = image.volumes.map((volume) => readdir(container.real(volume), { recursive: true }));
  const files = (await Promise.all(volumes)).flat().filter((name) => /^dead-letters\/.*\.json$/.test(name));
  if (files.length !== 1 || listed.split('\n').length !== 1 || !listed.includes('internal_platform_error'))
    throw new Error(`There must be one dead letter in the volume. Files: ${files.join(', ')}. Listed: ${listed}`);
  return listed;
}

const send = (device: Device, correlationId: string): Promise<void> =>
  device.send(
    { msgType: 'action', action: 'identity.update', version: '2', correlationId, ack: 'all' },
    Buffer.from('{"publicKey":"a new key"}'),
  );

async function receive(device: Device, code: string): Promise<void> {
  const reply = await device.next(waitMs);
  const answer = JSON.parse(reply?.body.toString() ?? '{}');
  if (answer.code !== code) throw new Error(`${device.id} was to be answered with ${code}, not with ${reply?.body}`);
}

async function exchange(device: Device, correlationId: string, code: string): Promise<void> {
  await send(device, correlationId);
  await receive(device, code);
}
