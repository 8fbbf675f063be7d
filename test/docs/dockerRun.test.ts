import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { restartCode, serviceCommand } from '../../sandbox/service/process.ts';
import { readDockerRun } from '../../scripts/image/dockerRun.ts';
import { joinLines, readDockerfile } from '../../scripts/image/followDockerfile.ts';
import { readEnvFile, settingDocs } from '../../src/settings/config.ts';

const readme = readFileSync('README.md', 'utf8');
const firstDeployment = readFileSync('docs/first-deployment.md', 'utf8');
const dockerfile = readDockerfile(readFileSync('Dockerfile', 'utf8'));
const dockerRunOf = (page: string) => joinLines(page).filter((line) => line.startsWith('docker run --detach '));
const argumentsOf = (verb: string) => dockerfile.flatMap((one) => (one.verb === verb ? [one.argument] : []));

describe('README’s docker run line', () => {
  const { envFile, mounts, ports } = readDockerRun(readme);

  it('mounts the volume that the image declares and stores its data in', () => {
    expect(mounts).toEqual(argumentsOf('VOLUME'));
    expect(argumentsOf('ENV')).toContain(`DATA_DIRECTORY=${mounts[0]}`);
  });
  it('publishes the port that the image exposes and the service listens on', () => {
    expect(ports).toEqual(argumentsOf('EXPOSE'));
    expect(settingDocs().find(({ env }) => env === 'HTTP_PORT')?.default).toBe(ports[0]);
  });
  it('is that of docs/first-deployment.md', () => expect(dockerRunOf(firstDeployment)).toEqual(dockerRunOf(readme)));
  it('waits for the drain, and 30 s more for the last checkpoints and the release of the partitions', () => {
    const drain = settingDocs().find(({ env }) => env === 'DELIVERY_DRAIN_SECONDS')?.default;
    expect(/--stop-timeout (\d+)/.exec(readme)?.[1]).toBe(String(Number(drain) + 30));
  });
  it('reads the file that .env.example is copied to', () => {
    expect(envFile).toBe('.env');
    expect(Object.keys(readEnvFile(readFileSync('.env.example', 'utf8')).variables)).toContain(
      'HUB_EVENTS_CONNECTION_STRING',
    );
  });
});

it('the docker run line starts the service with the same V8 flags as the sandbox and the bench (D164)', () => {
  expect(argumentsOf('CMD').map((argument) => JSON.parse(argument))).toEqual([serviceCommand]);
  const [, ...parts] = serviceCommand;
  for (const part of parts) expect(JSON.parse(readFileSync('package.json', 'utf8')).scripts.start).toContain(part);
});

describe('the unit for systemd', () => {
  const unit = readFileSync('deploy/systemd/device-messaging.service', 'utf8');
  const settingOf = (name: string) => new RegExp(`^${name}=(.*)$`, 'm').exec(unit)?.[1];

  it('starts the service like the image, with the same time to stop', () => {
    const [, ...parts] = serviceCommand;
    expect(settingOf('ExecStart')).toBe(['/usr/bin/node', ...parts].join(' '));
    expect(settingOf('TimeoutStopSec')).toBe(/--stop-timeout (\d+)/.exec(readme)?.[1]);
  });
  it('takes the end at a failover for a clean one, and starts the service again as Docker and Compose do', () => {
    expect([settingOf('Restart'), settingOf('SuccessExitStatus')]).toEqual(['always', String(restartCode)]);
    expect(readme).toContain('--restart unless-stopped ');
    const compose = readFileSync('deploy/compose.yaml', 'utf8');
    expect(/^ {2}device-messaging:\n(?: {4}.*\n)*? {4}restart: (.*)$/m.exec(compose)?.[1]).toBe('unless-stopped');
  });
  it('of the front door starts it, and gives it as long to stop as docs/methods.md says', () => {
    const door = readFileSync('deploy/systemd/device-messaging-methods.service', 'utf8');
    expect(door).toContain('\nExecStart=/usr/bin/node dist/methods.js\n');
    const [, timeout = ''] = /--stop-timeout (\d+)/.exec(readFileSync('docs/methods.md', 'utf8')) ?? [];
    expect(door).toContain(`\nTimeoutStopSec=${timeout}\n`);
  });
  it('sets variables that the service reads, with a data directory that it may write to', () => {
    const { variables } = readEnvFile((settingOf('Environment') ?? '').replaceAll(' ', '\n'));
    const known = ['NODE_ENV', ...settingDocs().map(({ env }) => env)];
    expect(Object.keys(variables).filter((name) => !known.includes(name))).toEqual([]);
    expect(variables['DATA_DIRECTORY']).toBe(`/var/lib/${settingOf('StateDirectory')}`);
  });
});

describe('a docker run line', () => {
  it('is parsed or refused', () => {
    const line = 'docker run --env A=b=c \\\n  --env-file .env -x image';
    expect(() => readDockerRun(line)).toThrow('-x');
    expect(readDockerRun(line.replace('-x ', '')).environment).toEqual({ A: 'b=c' });
    expect(() => readDockerRun('docker build .')).toThrow('one line that begins with docker run');
    expect(() => readDockerRun('docker run image sh')).toThrow('no command');
  });
});
