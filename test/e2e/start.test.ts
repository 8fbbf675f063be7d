import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { text } from 'node:stream/consumers';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { folderForEach } from '../../iot-hub-emulator/test/support/fixtures.ts';
import { spawn } from '../../sandbox/service/endWithUs.ts';
import { projectDirectory } from '../../sandbox/state/directories.ts';
import { absentHubAndBackends } from './absentHub.ts';

const directory = folderForEach('start');
const children: ChildProcess[] = [];
beforeEach(() => symlinkSync(join(projectDirectory, 'dist'), join(directory, 'dist')));
afterEach(() => {
  for (const child of children.splice(0)) child.kill('SIGKILL');
});

const settings = { ...absentHubAndBackends, HTTP_HOST: '127.0.0.1', HTTP_PORT: '0', ADMIN_PORT: '0' };

const scripts: Record<string, string> = JSON.parse(
  readFileSync(join(projectDirectory, 'package.json'), 'utf8'),
).scripts;

/** What `npm run` executes once the service is built, in a folder that has the build and nothing else. */
function start(script: string, environment: Record<string, string>, ...args: string[]) {
  const command = [scripts[script]?.split('&&').at(-1), ...args].join(' ');
  const child = spawn(`exec ${command}`, {
    ...{ shell: true, cwd: directory, env: { PATH: process.env['PATH'], ...environment } },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  children.push(child);
  return child;
}

async function run(script: string, environment: Record<string, string>, ...args: string[]) {
  const child = start(script, environment, ...args);
  const [[code], stdout, stderr] = await Promise.all([once(child, 'exit'), text(child.stdout), text(child.stderr)]);
  return { code, stdout, stderr };
}

const writeEnv = (values: Record<string, string>) =>
  writeFileSync(
    join(directory, '.env'),
    Object.entries(values)
      .map((pair) => `${pair.join('=')}\n`)
      .join(''),
  );

describe('npm start', () => {
  it('reads .env, and variables of the environment take precedence', async () => {
    writeEnv({ ...settings, HTTP_PORT: 'of the file', LOG_LEVEL: 'of the file' });
    const { code, stderr } = await run('start', { LOG_LEVEL: 'info' });
    expect(code).toBe(1);
    expect(stderr).toContain('HTTP_PORT: must be a port');
    expect(stderr.match(/^ {2}- /gm)).toHaveLength(1);
  });
  it('refuses a line of .env that a container engine reads otherwise', async () => {
    writeEnv({ ...settings, LOG_LEVEL: 'info # of the file' });
    const { code, stderr } = await run('start', {});
    expect([code, stderr]).toEqual([
      1,
      expect.stringMatching(/^\.env cannot be used:\n {2}- line \d+: LOG_LEVEL: .*\n$/),
    ]);
  });
  it('works without .env', async () => {
    const { code, stderr } = await run('start', {});
    expect(code).toBe(1);
    expect(stderr).toContain('set HUB_EVENTS_CONNECTION_STRING, or HUB_EVENTS_NAMESPACE');
  });
});

it('npm run dead-letters reads .env', async () => {
  writeEnv({ ...settings, DATA_DIRECTORY: join(directory, 'data') });
  expect(await run('dead-letters', {}, 'list')).toEqual({ code: 0, stdout: '', stderr: '0 dead letters\n' });
});

describe('the service', () => {
  it('ends before it reads the hub when its data directory cannot be used, with the reason', async () => {
    writeFileSync(join(directory, 'file'), '');
    const { code, stdout, stderr } = await run('start', { ...settings, DATA_DIRECTORY: join(directory, 'file') });
    expect([code, stdout]).toEqual([1, '']);
    expect(stderr).toContain('The service cannot start with these settings:\n  - ');
    expect(stderr).toContain(`${join(directory, 'file', 'checkpoints')} cannot be used (ENOTDIR)`);
  });
  it('warns of a variable that looks like a setting, without its value', async () => {
    expect.assertions(2);
    const child = start('start', { ...settings, DELIVERY_DRAIN_SECOND: 's3cret' });
    for await (const line of createInterface(child.stdout)) {
      if (!line.includes('environment variable is no setting')) continue;
      expect(line).not.toContain('s3cret');
      const hint = 'the nearest name is DELIVERY_DRAIN_SECONDS';
      expect(JSON.parse(line)).toMatchObject({ level: 'warn', variable: 'DELIVERY_DRAIN_SECOND', hint });
      break;
    }
  });
});
