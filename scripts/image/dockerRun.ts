import { parseArgs } from 'node:util';
import { readEnvFile } from '../../src/settings/config.ts';
import { joinLines } from './followDockerfile.ts';

export interface DockerRun {
  readonly envFile: string;
  readonly environment: Readonly<Record<string, string>>;
  /** Paths in the container at which a volume is mounted. */
  readonly mounts: readonly string[];
  /** Ports of the container that can be reached from outside. */
  readonly ports: readonly string[];
}

/**
 * The one `docker run` line of a page.
 * @throws Error when there is none, or it has an option that is not known here
 */
export function readDockerRun(page: string): DockerRun {
  const [line, ...more] = joinLines(page).filter((text) => text.startsWith('docker run '));
  if (line === undefined || more.length > 0)
    throw new Error('README.md must have one line that begins with docker run');
  const { values, positionals } = parseArgs({
    args: line.split(/\s+/).slice(2),
    allowPositionals: true,
    options: {
      ...{ detach: { type: 'boolean' }, 'read-only': { type: 'boolean' }, name: { type: 'string' } },
      'log-driver': { type: 'string' },
      'log-opt': { type: 'string', multiple: true },
      restart: { type: 'string' },
      'stop-timeout': { type: 'string' },
      'env-file': { type: 'string', default: '' },
      env: { type: 'string', multiple: true, default: [] },
      volume: { type: 'string', multiple: true, default: [] },
      publish: { type: 'string', multiple: true, default: [] },
    },
  });
  if (positionals.length !== 1) throw new Error('docker run in README.md must name the image, and no command');
  return {
    envFile: values['env-file'],
    environment: readEnvFile(values.env.join('\n')).variables,
    mounts: values.volume.map((volume) => volume.split(':')[1] ?? ''),
    ports: values.publish.map((port) => port.split(':').at(-1) ?? ''),
  };
}
