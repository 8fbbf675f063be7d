import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { request } from 'node:https';
import { join } from 'node:path';
import { kill } from 'node:process';
import { ensureCertificates } from 'iot-hub-emulator/testing';
import { expect, it } from 'vitest';
import { folderForAll, startForAll, startForTest } from '../../iot-hub-emulator/test/support/fixtures.ts';
import { freePort } from '../../sandbox/service/freePort.ts';
import { type ServiceProcess, startService } from '../../sandbox/service/process.ts';
import { startCollector } from '../support/collector.ts';
import { validateValue } from '../support/contracts.ts';
import { expectFailure } from './support/expectFailure.ts';
import { methodDevice } from './support/methodDevice.ts';
import { conveyor, environment, flap, startTestFrontDoor } from './support/testFrontDoor.ts';

// The front door as deployed: a process configured by its environment (M1).

const directory = folderForAll('door');
const setup = startForAll(startTestFrontDoor);
const motor = startForAll(() => methodDevice(setup.hub, 'motor-1'));

let process: ServiceProcess;
const logFile = join(directory, 'methods.log');

async function start(settings: Record<string, string> = {}) {
  rmSync(logFile, { force: true });
  const [port, healthPort] = [await freePort(), await freePort()];
  process = await startService({
    environment: {
      ...environment(setup.hub, setup.backends),
      METHODS_PORT: String(port),
      HTTP_PORT: String(healthPort),
      ADMIN_PORT: '0',
      NODE_EXTRA_CA_CERTS: setup.hub.caFile,
      ...settings,
    },
    command: ['node', 'dist/methods.js'],
    readyzUrl: `http://127.0.0.1:${healthPort}/readyz`,
    logFile,
  });
  return port;
}

const keyOf = (connectionString: string): string => /SharedAccessKey=([^;]+)/.exec(connectionString)?.[1] ?? '';

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

it('the front door is ready, serves TLS, finishes the invocations in progress on SIGTERM, and exits with 0', async () => {
  const { cert, key, ca } = await ensureCertificates(directory);
  const [chain, ofChain] = [join(directory, 'chain.pem'), join(directory, 'private.pem')];
  writeFileSync(chain, cert);
  writeFileSync(ofChain, key);
  const port = await start({ METHODS_TLS_CERTIFICATE_FILE: chain, METHODS_TLS_KEY_FILE: ofChain, NODE_ENV: '' });
  const calling = post(port, ca, setup.pathOf(conveyor, 'stop'));
  const call = await motor.next();
  const stopped = process.stop();
  await expect.poll(() => readFileSync(logFile, 'utf8')).toContain('"msg":"stopping: ');
  call.respond(200, { status: 3 });
  expect(await calling).toEqual({ status: 200, text: '{"status":3}' });
  await stopped;
  expect(await process.exited).toMatchObject({ code: 0 });

  const lines = readFileSync(logFile, 'utf8').trimEnd().split('\n');
  const written = lines.map((line) => JSON.parse(line));
  expect(written.map(({ msg }) => msg)).toEqual(expect.arrayContaining(['method invoked', 'stopped']));
  expect(written[0]).toMatchObject({
    event: 'program.starting',
    version: expect.stringMatching(/^\d+\.\d+\.\d+/),
    build: 'unknown',
    node: expect.stringMatching(/^v\d+/),
    settingsFile: { path: expect.stringMatching(/production\.json$/), changed: [] },
    settings: {
      methods: { port, drainSeconds: expect.any(Number) },
      log: { level: 'info' },
      backends: { clientSecret: '[set]' },
    },
  });
  expect(new Set(written.map(({ instance }) => instance)).size).toBe(1);
  expect(written[0].instance).toMatch(/^[\w.-]+-[0-9a-f]{8}$/);
  const hubKey = keyOf(setup.hub.serviceConnectionString);
  for (const secret of [setup.tokens.invoker, setup.backends.token.clientSecret, hubKey])
    expect(lines.join('\n')).not.toContain(secret);
});

it('the front door switches to debug and back at SIGUSR2', async () => {
  await start();
  const changes = () => [...readFileSync(logFile, 'utf8').matchAll(/"logLevel":"(\w+)"/g)].map(([, level]) => level);
  kill(process.pid, 'SIGUSR2');
  await expect.poll(changes).toEqual(['debug']);
  kill(process.pid, 'SIGUSR2');
  await expect.poll(changes).toEqual(['debug', 'info']);
  await process.stop();
  expect(await process.exited).toMatchObject({ code: 0 });
});

it('the front door sends spans to a collector if the standard variables say so, the last ones when it stops', async () => {
  const collector = await startCollector();
  const exporters = { OTEL_TRACES_EXPORTER: 'otlp', OTEL_METRICS_EXPORTER: 'none' };
  const port = await start({ ...exporters, OTEL_EXPORTER_OTLP_ENDPOINT: collector.url });
  const reply = await fetch(`http://127.0.0.1:${port}${setup.pathOf(conveyor, 'stop')}`, { method: 'POST' });
  expect(reply.status).toBe(401);
  expect(validateValue('methods', 'Errors', await reply.json())).toEqual([]);
  await process.stop();
  expect(await process.exited).toMatchObject({ code: 0 });
  const [span] = await collector.spansNamed('POST /objects/{objectId}/models/{model}/methods/{method}');
  expect(span).toMatchObject({ kind: 'server', resource: { 'service.name': 'device-messaging-methods' } });
  await collector.close();
});

it.each([
  ['a missing certificate', { METHODS_TLS_CERTIFICATE_FILE: '/none', METHODS_TLS_KEY_FILE: '/none' }],
  ['an invalid certificate', { METHODS_TLS_CERTIFICATE_FILE: 'package.json', METHODS_TLS_KEY_FILE: 'package.json' }],
  ['no hub', { HUB_SERVICE_CONNECTION_STRING: '' }],
])('the front door does not start with %s, and names the setting', (_, settings) =>
  expect(start(settings)).rejects.toThrow(new RegExp(Object.keys(settings)[0] ?? '')),
);

it('the front door names METHODS_PORT when another program has the port', async () => {
  const port = await start();
  const [healthPort, first] = [String(await freePort()), process];
  await expect(start({ METHODS_PORT: String(port), HTTP_PORT: healthPort })).rejects.toThrow(
    `METHODS_PORT: port ${port} is in use by another program`,
  );
  await first.stop();
});

it('The front door accepts a thousand invocations at once, refuses one more, and accepts new ones afterwards', async () => {
  const full = await startForTest(startTestFrontDoor({ inFlightPerDevice: 1000 }));
  const device = await startForTest(methodDevice(full.hub, 'motor-1'));
  const calling: ReturnType<typeof full.call>[] = [];
  // One after the other: caller and front door share this process, and each has ten seconds until it is in progress.
  while (calling.length < 1_000) {
    const call = full.call(conveyor, 'stop', { timeout: 300 });
    calling.push(call);
    const early = call.then(({ text }) => Promise.reject(new Error(`answered too early: ${text}`)));
    await Promise.race([device.next(), early]);
  }
  const refused = await full.call(flap, 'stop');
  await expectFailure(full, refused, 503, 'overloaded', /too many invocations in progress/);
  for (const [index, call] of device.received.entries()) call.respond(200, { status: index });
  const answers = await Promise.all(calling);
  expect(answers.filter(({ status }) => status !== 200).map(({ text }) => text)).toEqual([]);
  expect(new Set(answers.map(({ json }) => json.status)).size).toBe(1_000);

  const again = full.call(conveyor, 'stop');
  (await device.next()).respond(200, { status: 0 });
  expect((await again).status).toBe(200);
});
