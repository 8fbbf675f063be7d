import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { readEnvFile } from '../../src/settings/config.ts';
import type { DockerRun } from './dockerRun.ts';
import type { Image } from './followDockerfile.ts';

/**
 * What the container is told by README’s `docker run` line: the image’s own variables, and `.env`, a copy of
 * `.env.example` that has been filled in.
 * @param values of the settings that `.env.example` leaves open
 * @throws Error when the line and the Dockerfile do not fit together
 */
export async function environmentOf(
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
