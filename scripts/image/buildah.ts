import { chmod, cp, mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { execFile } from '../../sandbox/service/endWithUs.ts';
import { type Image, isRoot, StepFailed } from './followDockerfile.ts';
import { startInspectingProxy } from './inspectingProxy.ts';

const execute = promisify(execFile);

/** In the images that are built from it: what the steps of the Dockerfiles need beside Node.js and npm. */
const programs = ['sh', 'env', 'mkdir', 'cp', 'rm'];
/** Of the C library: packages with code for the machine load them. */
const ofLibc = ['libdl.so.2', 'libpthread.so.0', 'librt.so.1'];
/** Of npm's registry, in the build alone: without the secrets of the build, it is not found. */
const registryHost = 'registry.example';
const base = 'localhost/base';

/**
 * Builds images with buildah, in the network of an organisation: behind a proxy that inspects TLS, from a registry of its own. Undefined where buildah
 * is not there, which in CI it has to be, or may not run.
 * @param node the program of the base image
 */
export async function createBuilder(project: string, directory: string, node: string, say: (step: string) => void) {
  const isThere = await execute('buildah', ['--version']).then(
    () => isRoot,
    () => false,
  );
  if (!isThere && process.env['CI'] === 'true')
    throw new Error('buildah is missing, or not run by root: .ci/debian.txt');
  if (!isThere) return undefined;

  const places = ['--root', join(directory, 'storage'), '--runroot', join(directory, 'run')];
  const buildah = async (...args: string[]) =>
    (await execute('buildah', [...places, '--storage-driver', 'vfs', ...args], { maxBuffer: 2 ** 26 })).stdout.trim();
  const caFile = join(directory, 'ca.pem');
  const npmrc = join(directory, 'npmrc');
  const impatient = join(directory, 'impatient-npmrc');
  await mkdir(directory, { recursive: true });
  await writeFile(npmrc, `registry=https://${registryHost}/\n`);
  await writeFile(impatient, `registry=https://${registryHost}/\nfetch-retries=0\n`);
  await makeBase(join(directory, 'base'), node);
  const container = await buildah('from', 'scratch');
  await buildah('copy', '--quiet', container, join(directory, 'base'), '/');
  await buildah('commit', '--quiet', '--rm', '--format', 'docker', container, base);
  const why = await buildah('from', '--pull-never', base)
    .then((trial) => buildah('run', '--isolation', 'chroot', trial, 'node', '--version'))
    .then(
      () => undefined,
      ({ message }: Error) => message,
    );
  if (why !== undefined) {
    say(`the steps themselves, as buildah cannot run here: ${why}`);
    return undefined;
  }

  const { stdout: registry } = await execute('npm', ['config', 'get', 'registry']);
  const proxy = await startInspectingProxy(caFile, { [registryHost]: registry.trim() });

  async function run(dockerfile: string, secrets: readonly string[]): Promise<string> {
    const args = [
      ...['build', '--quiet', '--isolation', 'chroot', '--format', 'docker', '--pull-never'],
      ...['--file', join(project, dockerfile)],
      ...['--build-arg', `BASE_IMAGE=${base}`, '--build-arg', `HTTPS_PROXY=${proxy.url}`],
      ...secrets.flatMap((secret) => ['--secret', secret]),
    ];
    say(`buildah build --file ${dockerfile}${secrets.map((secret) => ` --secret ${secret.split(',')[0]}`).join('')}`);
    try {
      return await buildah(...args, project);
    } catch (error) {
      const { stdout = '', stderr = '' } = error as { readonly stdout?: string; readonly stderr?: string };
      throw new StepFailed(`buildah cannot build ${dockerfile}:\n${stdout}${stderr}`);
    }
  }

  return {
    /** Builds an image of the project, and resolves with it. Rejects with StepFailed when a step fails. */
    async build(dockerfile: string) {
      const without = await run(dockerfile, [`id=npmrc,src=${impatient}`]).catch((error: Error) => error.message);
      if (!/self.signed certificate|unable to (get|verify)/i.test(without))
        throw new Error(`Without its authority, the proxy was not refused: ${without}`);
      const id = await run(dockerfile, [`id=npmrc,src=${npmrc}`, `id=ca,src=${caFile}`]);
      if (!proxy.asked.has(registryHost)) throw new Error(`Nobody asked ${registryHost} for a package`);
      const inspected = await buildah('inspect', '--type', 'image', id);
      const { Docker } = JSON.parse(inspected) as { readonly Docker: { readonly config: Config } };
      const left = [proxy.url, registryHost].filter((text) => JSON.stringify(Docker.config).includes(text));
      if (left.length > 0) throw new Error(`The image of ${dockerfile} tells ${left.join(' and ')}`);
      const mounted = await buildah('mount', await buildah('from', '--pull-never', id));
      const image = imageOf(join(directory, 'images', id), Docker.config);
      // Out of the storage, into which nobody but root may look.
      await mkdir(image.root, { recursive: true });
      for (const path of [image.workdir, ...image.volumes])
        await execute('cp', ['--archive', '--parents', `.${path}`, image.root], { cwd: mounted });
      return image;
    },
    async close() {
      await proxy.close();
      await buildah('umount', '--all');
      await buildah('rm', '--all');
    },
  };
}

export type Builder = NonNullable<Awaited<ReturnType<typeof createBuilder>>>;

/** The configuration of an image, as Docker has it. */
interface Config {
  readonly User: string;
  readonly WorkingDir: string;
  readonly Env: readonly string[];
  readonly Entrypoint?: readonly string[] | null;
  readonly Cmd: readonly string[];
  readonly ExposedPorts?: Readonly<Record<string, unknown>>;
  readonly Volumes?: Readonly<Record<string, unknown>>;
  readonly StopSignal: string;
  readonly Healthcheck: { readonly Test: readonly string[] };
}

function imageOf(root: string, config: Config): Image {
  if (config.StopSignal !== 'SIGTERM') throw new Error(`The image is stopped by ${config.StopSignal}`);
  const [kind, ...healthCheck] = config.Healthcheck.Test;
  if (kind !== 'CMD') throw new Error(`The health check is ${kind}`);
  return {
    root,
    workdir: config.WorkingDir,
    volumes: Object.keys(config.Volumes ?? {}),
    user: config.User,
    ports: Object.keys(config.ExposedPorts ?? {}).map((port) => port.replace('/tcp', '')),
    // PATH is of the base.
    environment: Object.fromEntries(
      config.Env.map((line) => line.split(/=(.*)/s).slice(0, 2)).filter(([name]) => name !== 'PATH'),
    ),
    command: [...(config.Entrypoint ?? []), ...config.Cmd],
    healthCheck,
  };
}

/** A file system as that of a base image: Node.js and npm, and a few programs of this Debian with the libraries that they all load. */
async function makeBase(root: string, node: string): Promise<void> {
  const { stdout: global } = await execute('npm', ['root', '--global']);
  const found = await Promise.all(programs.map(async (name) => (await execute('which', [name])).stdout.trim()));
  const loaded = await Promise.all(
    [node, ...found].map(async (file) => (await execute('ldd', [file])).stdout.match(/(?<=\s)\/\S+/g) ?? []),
  );
  const libc = dirname(loaded.flat().find((path) => path.endsWith('/libc.so.6')) ?? '');
  const libraries = new Set([...loaded.flat(), ...ofLibc.map((name) => join(libc, name))]);
  const copy = async (from: string, to: string) => {
    await mkdir(dirname(join(root, to)), { recursive: true });
    await cp(from, join(root, to), { recursive: true, dereference: true });
  };
  for (const path of libraries) await copy(path, path);
  for (const [index, path] of found.entries()) await copy(path, `/usr/bin/${programs[index]}`);
  await copy(node, '/usr/local/bin/node');
  await copy(join(global.trim(), 'npm'), '/usr/local/lib/node_modules/npm');
  await mkdir(join(root, 'bin'));
  await copy(found[0] ?? '', '/bin/sh');
  const npm = '#!/bin/sh\nexec node /usr/local/lib/node_modules/npm/bin/npm-cli.js "$@"\n';
  await writeFile(join(root, 'usr/local/bin/npm'), npm, { mode: 0o755 });
  await mkdir(join(root, 'etc'));
  await writeFile(join(root, 'etc/passwd'), 'root:x:0:0::/root:/bin/sh\nnode:x:1000:1000::/home/node:/bin/sh\n');
  for (const folder of ['root', 'run', 'tmp']) await mkdir(join(root, folder));
  await chmod(join(root, 'tmp'), 0o1777);
}
