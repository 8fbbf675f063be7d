import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { execFile } from '../../sandbox/service/endWithUs.ts';
import { readDockerfile } from './followDockerfile.ts';

/** Of the line that the base images have; its newest release that is a package, too. */
const version = '26.10.0';

/**
 * Installs the Node.js of the base image below a folder, from its package: no registry of images is needed. Resolves with the path of the program.
 * @throws Error when a Dockerfile begins with another line of Node.js
 */
export async function installNode(project: string, directory: string): Promise<string> {
  const [line] = version.split('.', 1);
  for (const dockerfile of ['Dockerfile', 'edge/Dockerfile', 'iot-hub-emulator/Dockerfile']) {
    const base = readDockerfile(await readFile(join(project, dockerfile), 'utf8')).find(({ verb }) => verb === 'ARG');
    if (!base?.argument.startsWith(`BASE_IMAGE=node:${line}-`))
      throw new Error(`${dockerfile} has ${base?.argument}, the proof has Node.js ${version}`);
  }
  const name = `node-${process.platform}-${process.arch}`;
  await promisify(execFile)('npm', ['install', '--prefix', directory, '--no-save', `${name}@${version}`]);
  return join(directory, 'node_modules', name, 'bin/node');
}
