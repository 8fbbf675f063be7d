/**
 * Proves what the Dockerfiles build, where no container engine runs: follows it in an empty folder, and has the result serve
 * devices and applications of the sandbox, both its commands, as the image's user, with what README's `docker run` line says. `npm run prove-image`
 */
import { chmod, copyFile, mkdir, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startSandbox } from '../sandbox/sandbox.ts';
import { tail } from '../sandbox/service/process.ts';
import { projectDirectory } from '../sandbox/state/directories.ts';
import { createPrinter } from '../sandbox/terminal/print.ts';
import { createContainer, unlock } from './image/container.ts';
import { readDockerRun } from './image/dockerRun.ts';
import { proveEdge } from './image/edgeStory.ts';
import { environmentOf } from './image/environment.ts';
import { followDockerfile, type Image, StepFailed } from './image/followDockerfile.ts';
import { proveMethods } from './image/methods.ts';
import { provePackages } from './image/packages.ts';
import { createPatience, kindsOfLines } from './image/patience.ts';
import { proveService } from './image/story.ts';

/** For what needs seconds. */
const edgeMs = 300_000;

const printer = createPrinter();
const directory = await mkdtemp(join(tmpdir(), 'image-'));
try {
  await chmod(directory, 0o755); // the image's user is not the one of this process
  const image = await followDockerfile(projectDirectory, join(directory, 'stages'), (step) =>
    printer.progress(`RUN ${step}`),
  );
  const packages = await provePackages(projectDirectory, join(image.root, image.workdir));
  printer.progress(`${packages} packages, none of them only for development`);
  await prove(image);
  const ofEdge = await followDockerfile(
    projectDirectory,
    join(directory, 'edge-stages'),
    (step) => printer.progress(`RUN ${step}`),
    'edge/Dockerfile',
  );
  const packagesOfEdge = await provePackages(projectDirectory, join(ofEdge.root, ofEdge.workdir), 'edge');
  printer.progress(`The edge proxy: ${packagesOfEdge} packages, none of them only for development`);
  const limit = AbortSignal.timeout(edgeMs);
  await proveEdge(ofEdge, await createContainer(ofEdge, limit), await edgeDirectory(), printer);
  printer.progress('Both images are proven');
} catch (error) {
  process.exitCode = 1;
  process.stderr.write(
    `\n${error instanceof StepFailed ? error.message : error instanceof Error ? error.stack : error}\n`,
  );
} finally {
  await unlock(directory);
  await rm(directory, { recursive: true, force: true });
}

/** Readable for the image's user, who is not the one of this process. */
async function edgeDirectory(): Promise<string> {
  const folder = join(directory, 'edge');
  await mkdir(folder, { mode: 0o755 });
  return folder;
}

async function prove(image: Image): Promise<void> {
  const dockerRun = readDockerRun(await readFile(join(projectDirectory, 'README.md'), 'utf8'));
  const sandbox = await startSandbox({ directory: join(directory, 'sandbox'), service: false, printer });
  const { logFile, environment: given } = sandbox.state.service;
  const patience = createPatience(async () => [await kindsOfLines(logFile), sandbox.hub.journal.last].join('\n'));
  try {
    const container = await createContainer(image, patience.signal);
    const told = await environmentOf(projectDirectory, dockerRun, image, given);
    const caFile = join(directory, 'ca.pem');
    await copyFile(sandbox.hub.caFile, caFile);
    // An engine has a network and a root directory for each container, and a real hub a certificate that everybody knows.
    const here = {
      HTTP_HOST: '127.0.0.1',
      HTTP_PORT: given['HTTP_PORT'] ?? '',
      ADMIN_PORT: given['ADMIN_PORT'] ?? '',
      NODE_EXTRA_CA_CERTS: caFile,
      DATA_DIRECTORY: container.real(told['DATA_DIRECTORY'] ?? ''),
    };
    const environment = { ...told, ...here };
    const stage = { image, container, sandbox, environment, printer, signal: patience.signal };
    await proveService(stage);
    await proveMethods(stage);
  } catch (error) {
    if (!patience.signal.aborted) throw error;
    throw new Error(`${patience.signal.reason.message}.${await tail(logFile)}`, { cause: error });
  } finally {
    patience.end();
    await sandbox.close();
  }
}
