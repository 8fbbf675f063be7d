import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { folderForAll } from '../../iot-hub-emulator/test/support/fixtures.ts';
import { spawn } from '../../sandbox/service/endWithUs.ts';
import { freePort } from '../../sandbox/service/freePort.ts';
import { type ServiceProcess, startService } from '../../sandbox/service/process.ts';
import { settingDocs } from '../../src/settings/config.ts';
import { documents } from './kustomize.ts';
import { imageOf } from './pod.ts';

interface Service {
  readonly image?: string;
  readonly command: readonly string[];
  readonly volumes: readonly string[];
  readonly environment?: Readonly<Record<string, string>>;
  readonly ports?: readonly string[];
  readonly working_dir?: string;
  readonly healthcheck?: { readonly test: readonly string[] };
  readonly stop_grace_period?: string;
}

const [compose = {}] = documents('deploy/compose.yaml');
const { sandbox, 'device-messaging': service } = compose['services'] as Readonly<Record<string, Service>>;
const directory = folderForAll('compose');
const ends: (() => Promise<unknown>)[] = [];
afterAll(async () => {
  for (const end of ends.reverse()) await end();
});

const inContainers = '/project/.sandbox';
const here = (text: string) => text.replace(inContainers, directory).replace(/^\/data$/, join(directory, 'kept'));

it('the sandbox of deploy/compose.yaml starts by its command, and the service by what the sandbox has written (D387)', async () => {
  if (!sandbox || !service) throw new Error('deploy/compose.yaml lacks a service');
  expect(sandbox.working_dir).toBe('/project');
  expect(sandbox.volumes).toEqual(['..:/project']);
  expect(sandbox.image).toBe(/^ARG BASE_IMAGE=(.*)$/m.exec(readFileSync('Dockerfile', 'utf8'))?.[1]);
  expect(service.volumes).toContain(`../.sandbox:${inContainers}:ro`);
  const defaultPort = settingDocs().find(({ env }) => env === 'HTTP_PORT')?.default;
  expect(sandbox.ports).toEqual([`127.0.0.1:${defaultPort}:${defaultPort}`]);

  const port = String(await freePort());
  const [program = '', ...args] = [...sandbox.command.map((word) => (word === defaultPort ? port : word))];
  const running = spawn(program, [...args, '--directory', directory], { stdio: 'ignore', detached: true });
  const exited = new Promise((resolve) => running.once('exit', resolve));
  ends.push(() => {
    if (running.pid !== undefined && running.exitCode === null) process.kill(-running.pid, 'SIGTERM');
    return exited;
  });
  const stateFile = sandbox.healthcheck?.test.at(-1) ?? '';
  await expect.poll(() => existsSync(join(directory, relative('.sandbox', stateFile)))).toBe(true);

  const image = imageOf('Dockerfile');
  expect(service.command.filter((word) => !word.startsWith('--env-file='))).toEqual(image.command);
  expect(service.stop_grace_period).toBe('55s');
  mkdirSync(join(directory, 'kept'));
  const environment = Object.entries({ ...image.environment, ...service.environment });
  const ready = await startService({
    command: service.command.map(here),
    environment: Object.fromEntries(environment.map(([name, value]) => [name, here(value)])),
    readyzUrl: `http://127.0.0.1:${port}/readyz`,
    logFile: join(directory, 'log'),
  });
  const stop = (one: ServiceProcess) => one.stop(55_000).then(() => one.exited);
  ends.push(() => stop(ready));
  expect(existsSync(join(directory, 'kept', 'checkpoints'))).toBe(true);
  expect(await stop(ready)).toMatchObject({ code: 0 });
});
