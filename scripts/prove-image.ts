import { chmod, copyFile, mkdir, mkdtemp, readdir, readFile, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { developmentHub } from 'iot-hub-emulator';
import { startSandbox } from '../sandbox/sandbox.ts';
import { tail } from '../sandbox/service/process.ts';
import { projectDirectory } from '../sandbox/state/directories.ts';
import { createPrinter } from '../sandbox/terminal/print.ts';
import { readEnvFile } from '../src/settings/config.ts';
import { installNode } from './image/baseNode.ts';
import { type Builder, createBuilder } from './image/buildah.ts';
import { createContainer, type Mount, requireContainers } from './image/container.ts';
import { type DockerRun, readDockerRun } from './image/dockerRun.ts';
import { proveEdge } from './image/edgeStory.ts';
import { followDockerfile, type Image, StepFailed } from './image/followDockerfile.ts';
import { proveHub } from './image/hubStory.ts';
import { proveMethods } from './image/methods.ts';
import { openNetwork, serverAddress, whyNoNetwork } from './image/network.ts';
import { proveService } from './image/story.ts';

/**
 * Proves what the Dockerfiles build: buildah builds them behind a proxy that inspects TLS, or where it cannot run, they are followed in empty
 * folders, with the Node.js of their base image. The results serve devices and applications of the sandbox and the clients of a hub, isolated as in a container, with what
 * README's `docker run` line says. `npm run prove -- image [service] [edge] [hub]`
 */

const limitMs = 300_000;

/** Of what the project adds to the base image. */
const maxBytes = 15_000_000;

const megabytes = (bytes: number) => `${(bytes / 1e6).toFixed(1)} MB`;

const images = ['service', 'edge', 'hub'] as const;
const asked = process.argv.slice(3);
const strangers = asked.filter((name) => !images.some((image) => image === name));
if (strangers.length > 0) {
  process.stderr.write(`There is no image called "${strangers.join('", "')}": ${images.join(', ')}\n`);
  process.exit(1);
}
const isAsked = (image: (typeof images)[number]) => asked.length === 0 || asked.includes(image);

const printer = createPrinter();
const directory = await mkdtemp(join(tmpdir(), 'image-'));
let builder: Builder | undefined;
try {
  await chmod(directory, 0o755); // the image's user is not the one of this process
  await requireContainers();
  const node = await installNode(projectDirectory, join(directory, 'base'));
  const say = (step: string) => printer.progress(`RUN ${step}`);
  builder = await createBuilder(projectDirectory, join(directory, 'buildah'), node, say);
  const build = (dockerfile: string, stages: string) =>
    builder?.build(dockerfile) ??
    followDockerfile(projectDirectory, join(directory, stages), { node, say, dockerfile });
  if (isAsked('service')) await proveServiceImage(await build('Dockerfile', 'stages'), node);
  if (isAsked('edge')) await proveEdgeImage(await build('edge/Dockerfile', 'edge-stages'), node);
  if (isAsked('hub')) await proveHubImage(await build('iot-hub-emulator/Dockerfile', 'hub-stages'), node);
  printer.progress(asked.length === 0 ? 'All images are proven' : `Proven: ${asked.join(', ')}`);
} catch (error) {
  process.exitCode = 1;
  process.stderr.write(
    `\n${error instanceof StepFailed ? error.message : error instanceof Error ? error.stack : error}\n`,
  );
} finally {
  await builder?.close();
  await rm(directory, { recursive: true, force: true });
}

async function proveServiceImage(image: Image, node: string): Promise<void> {
  const bytes = await proveLayers(join(image.root, image.workdir), ['dist', 'config', 'package.json', 'LICENSE']);
  printer.progress(`The image adds ${megabytes(bytes)} to its base`);
  await prove(image, node);
}

async function proveEdgeImage(image: Image, node: string): Promise<void> {
  const bytes = await proveLayers(join(image.root, image.workdir), ['edge/dist', 'edge/package.json', 'LICENSE']);
  printer.progress(`The image of the edge proxy adds ${megabytes(bytes)} to its base`);
  const limit = AbortSignal.timeout(limitMs);
  const container = (mounts: readonly Mount[]) => createContainer(image, node, mounts, limit);
  const edgeDirectory = join(directory, 'edge');
  await mkdir(edgeDirectory, { mode: 0o755 }); // for the image's user
  await proveEdge(image, container, edgeDirectory, printer);
}

async function proveHubImage(image: Image, node: string): Promise<void> {
  const bytes = await proveLayers(join(image.root, image.workdir), ['dist', 'development', 'LICENSE']);
  printer.progress(`The image of the hub emulator adds ${megabytes(bytes)} to its base`);
  const why = await whyNoNetwork();
  if (why !== undefined) {
    if (process.env['CI'] === 'true') throw new Error(`The image of the hub emulator cannot be run here: ${why}`);
    printer.progress(`NOT PROVEN is how that image runs: ${why}`);
    return;
  }
  const signal = AbortSignal.timeout(limitMs);
  const network = await openNetwork(developmentHub.name, serverAddress[4]);
  try {
    const container = createContainer(image, node, [], signal, network.server);
    await proveHub(image, { container, network, signal }, printer);
  } finally {
    await network.close();
  }
}

async function prove(image: Image, node: string): Promise<void> {
  const dockerRun = readDockerRun(await readFile(join(projectDirectory, 'README.md'), 'utf8'));
  const sandbox = await startSandbox({ directory: join(directory, 'sandbox'), service: false, printer });
  const { logFile, environment: given } = sandbox.state.service;
  const signal = AbortSignal.timeout(limitMs);
  try {
    const caFile = '/run/ca.pem';
    const container = createContainer(image, node, [{ from: join(directory, 'ca.pem'), to: caFile }], signal);
    const told = await environmentOf(projectDirectory, dockerRun, image, given);
    await copyFile(sandbox.hub.caFile, join(directory, 'ca.pem'));
    // An engine has a network for each container, and a real hub a certificate that everybody knows.
    const here = {
      ...{ HTTP_HOST: '127.0.0.1', HTTP_PORT: given['HTTP_PORT'] ?? '', ADMIN_PORT: given['ADMIN_PORT'] ?? '' },
      NODE_EXTRA_CA_CERTS: caFile,
    };
    const environment = { ...told, ...here };
    const stage = { image, container, sandbox, environment, printer, signal };
    await proveService(stage);
    await proveMethods(stage);
  } catch (error) {
    if (!signal.aborted) throw error;
    throw new Error(`The service has not done its work within ${limitMs / 1000} s.${await tail(logFile)}`, {
      cause: error,
    });
  } finally {
    await sandbox.close();
  }
}

/**
 * What the container is told by README’s `docker run` line: the image’s own variables, and `.env`, a copy of
 * `.env.example` that has been filled in.
 * @param values of the settings that `.env.example` leaves open
 * @throws Error when the line and the Dockerfile do not fit together
 */
async function environmentOf(
  project: string,
  dockerRun: DockerRun,
  image: Image,
  values: Readonly<Record<string, string>>,
): Promise<Record<string, string>> {
  if (dockerRun.envFile !== '.env') throw new Error('docker run in README.md must have --env-file .env');
  requireSame('volumes', dockerRun.mounts, image.volumes);
  requireSame('ports', dockerRun.ports, image.ports);
  const { variables: open } = readEnvFile(await readFile(join(project, '.env.example'), 'utf8'));
  const filled = Object.keys(open).map((name) => [name, values[name] ?? ''] as const);
  return { ...image.environment, ...Object.fromEntries(filled), ...dockerRun.environment };
}

function requireSame(what: string, inReadme: readonly string[], inDockerfile: readonly string[]): void {
  const [wanted, declared] = [inReadme, inDockerfile].map((list) => [...list].sort().join(', '));
  if (wanted !== declared)
    throw new Error(`docker run in README.md has the ${what} ${wanted}, the Dockerfile declares ${declared}`);
}

/**
 * Proves that an image has what runs and its licences, and nothing else. Resolves with its size in bytes.
 * @param directory the image's working directory, in the real file system
 * @param allowed its files, and folders with all that is below
 */
async function proveLayers(directory: string, allowed: readonly string[]): Promise<number> {
  const files = (await readdir(directory, { recursive: true, withFileTypes: true })).filter((entry) => entry.isFile());
  const paths = files.map((file) => join(file.parentPath, file.name).slice(directory.length + 1));
  const isOf = (name: string) => (path: string) => path === name || path.startsWith(`${name}/`);
  const strangers = paths.filter((path) => !allowed.some((name) => isOf(name)(path)));
  if (strangers.length > 0) throw new Error(`The image has what nobody runs: ${strangers.join(', ')}`);
  const missing = allowed.filter((name) => !paths.some(isOf(name)));
  if (missing.length > 0) throw new Error(`The image lacks ${missing.join(', ')}`);
  const sizes = await Promise.all(paths.map(async (path) => (await stat(join(directory, path))).size));
  const bytes = sizes.reduce((sum, size) => sum + size, 0);
  if (bytes > maxBytes) throw new Error(`The image adds ${bytes} bytes to its base, ${maxBytes} are allowed`);
  return bytes;
}
