/**
 * Proves what the Dockerfiles build, where no container engine runs: follows them in empty folders, with the Node.js of their
 * base image, and has the results serve devices and applications of the sandbox, isolated as in a container, with what
 * README's `docker run` line says. `npm run prove -- image`
 */
import { chmod, copyFile, mkdir, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startSandbox } from '../sandbox/sandbox.ts';
import { tail } from '../sandbox/service/process.ts';
import { projectDirectory } from '../sandbox/state/directories.ts';
import { createPrinter } from '../sandbox/terminal/print.ts';
import { installNode } from './image/baseNode.ts';
import { createContainer, type Mount, requireContainers } from './image/container.ts';
import { readDockerRun } from './image/dockerRun.ts';
import { proveEdge } from './image/edgeStory.ts';
import { environmentOf } from './image/environment.ts';
import { followDockerfile, type Image, StepFailed } from './image/followDockerfile.ts';
import { proveLayers } from './image/layers.ts';
import { proveMethods } from './image/methods.ts';
import { createPatience, kindsOfLines } from './image/patience.ts';
import { proveService } from './image/story.ts';

/** For what needs seconds. */
const edgeMs = 300_000;

const megabytes = (bytes: number) => `${(bytes / 1e6).toFixed(1)} MB`;

const printer = createPrinter();
const directory = await mkdtemp(join(tmpdir(), 'image-'));
try {
  await chmod(directory, 0o755); // the image's user is not the one of this process
  await requireContainers();
  const node = await installNode(projectDirectory, join(directory, 'base'));
  const follow = (dockerfile: string, stages: string) =>
    followDockerfile(projectDirectory, join(directory, stages), {
      node,
      say: (step) => printer.progress(`RUN ${step}`),
      dockerfile,
    });
  const image = await follow('Dockerfile', 'stages');
  const bytes = await proveLayers(join(image.root, image.workdir), ['dist', 'config', 'package.json', 'LICENSE']);
  printer.progress(`The image adds ${megabytes(bytes)} to its base`);
  await prove(image, node);
  const ofEdge = await follow('edge/Dockerfile', 'edge-stages');
  const edgeFiles = ['edge/dist', 'edge/package.json', 'LICENSE'];
  const bytesOfEdge = await proveLayers(join(ofEdge.root, ofEdge.workdir), edgeFiles);
  printer.progress(`The image of the edge proxy adds ${megabytes(bytesOfEdge)} to its base`);
  const limit = AbortSignal.timeout(edgeMs);
  const edgeContainer = (mounts: readonly Mount[]) => createContainer(ofEdge, node, mounts, limit);
  await proveEdge(ofEdge, edgeContainer, await edgeDirectory(), printer);
  printer.progress('Both images are proven');
} catch (error) {
  process.exitCode = 1;
  process.stderr.write(
    `\n${error instanceof StepFailed ? error.message : error instanceof Error ? error.stack : error}\n`,
  );
} finally {
  await rm(directory, { recursive: true, force: true });
}

/** Readable for the image's user, who is not the one of this process. */
async function edgeDirectory(): Promise<string> {
  const folder = join(directory, 'edge');
  await mkdir(folder, { mode: 0o755 });
  return folder;
}

async function prove(image: Image, node: string): Promise<void> {
  const dockerRun = readDockerRun(await readFile(join(projectDirectory, 'README.md'), 'utf8'));
  const sandbox = await startSandbox({ directory: join(directory, 'sandbox'), service: false, printer });
  const { logFile, environment: given } = sandbox.state.service;
  const patience = createPatience(async () => [await kindsOfLines(logFile), sandbox.hub.journal.last].join('\n'));
  try {
    const caFile = '/run/ca.pem';
    const container = createContainer(image, node, [{ from: join(directory, 'ca.pem'), to: caFile }], patience.signal);
    const told = await environmentOf(projectDirectory, dockerRun, image, given);
    await copyFile(sandbox.hub.caFile, join(directory, 'ca.pem'));
    // An engine has a network for each container, and a real hub a certificate that everybody knows.
    const here = {
      ...{ HTTP_HOST: '127.0.0.1', HTTP_PORT: given['HTTP_PORT'] ?? '', ADMIN_PORT: given['ADMIN_PORT'] ?? '' },
      NODE_EXTRA_CA_CERTS: caFile,
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
