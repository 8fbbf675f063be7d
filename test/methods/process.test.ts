import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { mkdtemp } from 'node:fs/promises';
import { request } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { ensureCertificates } from '../../sandbox/hub/identity/certificates.ts';
import { freePort, type ServiceProcess, startService } from '../../sandbox/service/process.ts';
import { methodDevice } from './support/methodDevice.ts';
import { conveyor, environment, startTestFrontDoor, type TestFrontDoor } from './support/testFrontDoor.ts';

// The front door as deployed: a process configured by its environment (M1).

let setup: TestFrontDoor;
let directory: string;
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'door-'));
  setup = await startTestFrontDoor();
});
afterAll(async () => {
  await setup.close();
  rmSync(directory, { recursive: true });
});

let process: ServiceProcess;
const logFile = () => join(directory, 'methods.log');

async function start(settings: Record<string, string> = {}) {
  rmSync(logFile(), { force: true });
  const [port, healthPort] = [await freePort(), await freePort()];
  process = await startService({
    environment: {
      ...environment(setup.hub, setup.backends),
      METHODS_PORT: String(port),
      HTTP_PORT: String(healthPort),
      NODE_EXTRA_CA_CERTS: setup.hub.caFile,
      ...settings,
    },
    command: ['node', 'dist/methods.js'],
    readyzUrl: `http://127.0.0.1:${healthPort}/readyz`,
    logFile: logFile(),
  });
  return port;
}

/** A POST that trusts only the certificate authority of the sandbox. */
const post = (port: number, ca: string, path: string): Promise<{ status: number; text: string }> =>
  new Promise((resolve, reject) => {
    const headers = { authorization: `Bearer ${setup.tokens.invoker}`, 'content-type': 'application/json' };
    const outgoing = request({ host: 'localhost', port, path, method: 'POST', ca, headers, agent: false }, (answer) => {
      let text = '';
      answer.on('data', (chunk) => {
        text += chunk;
      });
      answer.on('end', () => resolve({ status: answer.statusCode ?? 0, text }));
    });
    outgoing.on('error', reject).end('{}');
  });

it('is ready, serves TLS, finishes the invocations in progress on SIGTERM, and exits with 0', async () => {
  const { cert, key, ca } = await ensureCertificates(directory);
  const files = {
    METHODS_TLS_CERTIFICATE_FILE: join(directory, 'chain.pem'),
    METHODS_TLS_KEY_FILE: join(directory, 'private.pem'),
  };
  writeFileSync(files.METHODS_TLS_CERTIFICATE_FILE, cert);
  writeFileSync(files.METHODS_TLS_KEY_FILE, key);
  const port = await start(files);
  const motor = await methodDevice(setup.hub, 'motor-1');
  const calling = post(port, ca, setup.pathOf(conveyor, 'stop'));
  const call = await motor.next();
  const stopped = process.stop();
  await expect.poll(() => readFileSync(logFile(), 'utf8')).toContain('"msg":"stopping: ');
  call.respond(200, { status: 3 });
  expect(await calling).toEqual({ status: 200, text: '{"status":3}' });
  await stopped;
  expect(await process.exited).toMatchObject({ code: 0 });
  await motor.close();

  const lines = readFileSync(logFile(), 'utf8').trimEnd().split('\n');
  const messages = lines.map((line) => JSON.parse(line).msg);
  expect(messages).toEqual(expect.arrayContaining(['method invoked', 'stopped']));
  for (const secret of [setup.tokens.invoker, setup.backends.token.clientSecret]) {
    expect(lines.join('\n')).not.toContain(secret);
  }
});

it.each([
  ['a missing certificate', { METHODS_TLS_CERTIFICATE_FILE: '/none', METHODS_TLS_KEY_FILE: '/none' }],
  ['an invalid certificate', { METHODS_TLS_CERTIFICATE_FILE: 'package.json', METHODS_TLS_KEY_FILE: 'package.json' }],
  ['no hub', { HUB_SERVICE_CONNECTION_STRING: '' }],
])('does not start with %s, and names the setting', async (_, settings) => {
  await expect(start(settings)).rejects.toThrow(new RegExp(Object.keys(settings)[0] ?? ''));
});
