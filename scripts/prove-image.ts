/**
 * Proves what the Dockerfile builds, where no container engine runs: follows it in an empty folder, and has the result serve a
 * device of the sandbox. `npm run prove-image`
 */
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { demonstrate } from '../sandbox/demonstration/demonstrate.ts';
import { createPrinter } from '../sandbox/print.ts';
import { startSandbox } from '../sandbox/sandbox.ts';
import { projectDirectory } from '../sandbox/state.ts';
import { followDockerfile, type Image, StepFailed } from './dockerfile.ts';

const limits = { readyMs: 2_000, idleMegabytes: 150 };
const printer = createPrinter();
const directory = await mkdtemp(join(tmpdir(), 'image-'));
try {
  const image = await followDockerfile(projectDirectory, directory, (step) => printer.progress(`RUN ${step}`));
  const packages = await provePackages(image.directory);
  printer.progress(`${packages} packages, none of them only for development`);
  await proveService(image);
  printer.progress('The image is proven');
} catch (error) {
  process.exitCode = 1;
  process.stderr.write(
    `\n${error instanceof StepFailed ? error.message : error instanceof Error ? error.stack : error}\n`,
  );
} finally {
  await rm(directory, { recursive: true, force: true });
}

/** Every package that production needs is there, and no other. Resolves with their number. */
async function provePackages(installed: string): Promise<number> {
  const lock = JSON.parse(await readFile(join(projectDirectory, 'package-lock.json'), 'utf8'));
  const entries = Object.entries<{ dev?: boolean; devOptional?: boolean; optional?: boolean }>(lock.packages).slice(1);
  const there = (path: string) => existsSync(join(installed, path, 'package.json'));
  const surplus = entries.filter(([path, { dev, devOptional }]) => (dev || devOptional) && there(path));
  const missing = entries.filter(
    ([path, { dev, devOptional, optional }]) => !(dev || devOptional || optional || there(path)),
  );
  if (surplus.length > 0)
    throw new Error(`Packages for development are installed: ${surplus.map(([path]) => path).join(', ')}`);
  if (missing.length > 0) throw new Error(`Packages are missing: ${missing.map(([path]) => path).join(', ')}`);
  return entries.filter(([path]) => there(path)).length;
}

/** Started from the image's folder, the service is ready soon, stays small, passes its health check and answers a device. */
async function proveService(image: Image): Promise<void> {
  const sandbox = await startSandbox({
    directory: join(directory, 'sandbox'),
    service: false,
    serviceDirectory: image.directory,
    serviceCommand: image.command,
    environment: image.environment,
    printer,
  });
  try {
    const { pid, readyAfterMs } = await sandbox.startService();
    await promisify(execFile)(process.execPath, image.healthCheck.slice(1), { env: sandbox.state.service.environment });
    printer.progress(`Ready after ${Math.round(readyAfterMs)} ms, health check passed`);
    if (readyAfterMs > limits.readyMs) throw new Error(`That is more than ${limits.readyMs} ms`);

    await sleep(2_000);
    const idle = await residentMegabytes(pid);
    printer.progress(`${idle.toFixed(0)} MB resident when idle`);
    if (idle > limits.idleMegabytes) throw new Error(`That is more than ${limits.idleMegabytes} MB`);

    const exchanges = await demonstrate(sandbox);
    printer.progress(`${exchanges.length} messages acknowledged as expected`);
  } finally {
    await sandbox.close();
  }
}

async function residentMegabytes(pid: number): Promise<number> {
  if (process.platform === 'linux') {
    return Number(/VmRSS:\s+(\d+) kB/.exec(await readFile(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1024;
  }
  return Number((await promisify(execFile)('ps', ['-o', 'rss=', '-p', String(pid)])).stdout) / 1024;
}
