import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { Agent, request } from 'node:http';
import { createServer as createHttpsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { setImmediate as turn } from 'node:timers/promises';
import { serveHealth } from '@device-messaging/telemetry/health.ts';
import { ensureCertificates } from 'iot-hub-emulator/testing';
import { expect, it, onTestFinished } from 'vitest';
import { folderForAll, portForTest, startForTest } from '../../iot-hub-emulator/test/support/fixtures.ts';
import { startBackends } from '../../sandbox/backends/backends.ts';
import { createDirectMethods } from '../../src/hub/methods/directMethods.ts';
import { startFrontDoor } from '../../src/methods/frontDoor.ts';
import { createConcurrencyLimits } from '../../src/methods/limits.ts';
import { createRequestHandler } from '../../src/methods/requestHandler.ts';
import { createServer } from '../../src/methods/server.ts';
import { createInvocationRecords } from '../../src/observing/invocationRecords.ts';
import { createLog } from '../../src/observing/log.ts';
import { noMeter } from '../../src/observing/metrics.ts';
import { readMethodsSettings } from '../../src/settings/config.ts';
import { leftByRounds } from '../support/leftByRounds.ts';
import { signal } from '../support/waiting.ts';
import { environment } from './support/testFrontDoor.ts';

// What the front door does again and again leaves nothing behind: no memory, no timer, no listener, no connection.

const directory = folderForAll('leftovers');
const log = createLog('silent');
const objectId = '6b0e6a1c-4a59-4b3e-9d3f-0a1c3c1f2a3b';
const answer = '{"status":200,"payload":{}}';

/** A hub that answers every call, and its address with a key. */
async function answeringHub() {
  const { cert, key, ca } = await ensureCertificates(join(directory, 'hub'));
  const server = createHttpsServer({ cert, key }, (asked, response) => {
    asked.resume().once('end', () => response.writeHead(200, { 'content-type': 'application/json' }).end(answer));
  });
  return {
    ca,
    address: `HostName=localhost:${await portForTest(server)};SharedAccessKeyName=service;SharedAccessKey=a2V5`,
  };
}

/** The HTTP interface over a hub that answers when it is told to. */
async function httpInterface() {
  let arrived = () => {};
  let respond = () => {};
  const handler = createRequestHandler({
    backends: {
      readObject: async () => ({ kind: 'object', object: { objectId, type: 'motor@1.0.0', path: 'motor-1' } }),
    },
    invoke: () =>
      new Promise((resolve) => {
        respond = () => resolve({ status: 7 });
        arrived();
      }),
    limits: createConcurrencyLimits({ inFlight: 10, inFlightPerDevice: 10, bodies: { inAll: 10, ofCaller: 10 } }),
    invocations: createInvocationRecords({ log, meter: noMeter, hubHost: '' }),
    log,
  });
  const server = await startForTest(Promise.resolve(createServer({ handler, log })));
  await server.listen({ host: '127.0.0.1', port: 0 });
  const { port } = server.server.address() as AddressInfo;
  const agent = new Agent({ keepAlive: true });
  onTestFinished(() => agent.destroy());

  /** Sends a request, and waits until the device has the invocation. */
  async function begin(token: string, connections: Agent | false) {
    const came = new Promise<void>((resolve) => {
      arrived = resolve;
    });
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
    const path = `/objects/${objectId}/models/svc.device/methods/stop`;
    const calling = request({ port, path, method: 'POST', agent: connections, headers }).on('error', () => {});
    calling.end('{}');
    await came;
    return calling;
  }

  return {
    /** @param token the request has its answer */
    async answered(token: string) {
      const calling = await begin(token, agent);
      respond();
      const [response] = await once(calling, 'response');
      await once(response.resume(), 'end');
      expect(response.statusCode).toBe(200);
    },
    /** The caller disconnects before the device answers, not with the connection of those that get theirs. */
    async left(token: string) {
      const calling = await begin(token, false);
      calling.destroy();
      while ([...handler.requests()].length === 0) await turn();
      respond();
      while (handler.inProgress() > 0) await turn();
    },
  };
}

it('nothing is left of invocations, of requests that their callers end, and of probes', async () => {
  const hub = await answeringHub();
  const methods = createDirectMethods(hub.address, hub.ca);
  onTestFinished(() => methods.close());
  const { answered, left } = await httpInterface();
  const address = { host: '127.0.0.1', port: 0, settings: { host: 'HTTP_HOST', port: 'HTTP_PORT' } };
  const hour = 3_600_000; // not over within the test, however slow the machine is
  const limits = { headersMs: hour, requestMs: hour, answerMs: hour, idleMs: hour };
  const health = await startForTest(serveHealth(address, { missing: () => [] }, limits));
  const agent = new Agent({ keepAlive: true });
  onTestFinished(() => agent.destroy());

  const found = await leftByRounds({
    'a call of a direct method': {
      round: async () =>
        expect(await methods.invoke({ device: 'd', module: '', payload: {}, timeoutSeconds: 300 })).toMatchObject({
          kind: 'response',
        }),
    },
    'a request that is answered': { round: () => answered('t') },
    'a request whose caller disconnects': { round: () => left('t') },
    'a probe of the health': {
      async round() {
        const [response] = await once(request({ port: health.port, path: '/livez', agent }).end(), 'response');
        await once(response.resume(), 'end');
      },
    },
  });
  expect(found).toEqual({});
});

it('nothing is left of a front door that was stopped while it could not reach its hub', async () => {
  const { cert, key } = await ensureCertificates(join(directory, 'door'));
  const fileOf = (name: string, text: string) => {
    const file = join(directory, name);
    writeFileSync(file, text, { mode: 0o600 });
    return file;
  };
  const backends = await startForTest(startBackends());
  const { HUB_SERVICE_CONNECTION_STRING: _, ...env } = environment({ serviceConnectionString: '' } as never, backends, {
    HUB_SERVICE_CONNECTION_STRING_FILE: fileOf('a', 'HostName=localhost:1;SharedAccessKeyName=n;SharedAccessKey=a2V5'),
    METHODS_TLS_CERTIFICATE_FILE: fileOf('cert.pem', cert),
    METHODS_TLS_KEY_FILE: fileOf('key.pem', key),
  });
  const settings = readMethodsSettings(env, directory);
  const found = await leftByRounds({
    'a front door': {
      async round() {
        const told = signal();
        const frontDoor = await startFrontDoor(settings, createLog('warn', { write: () => told.give() }));
        await told.given; // the hub does not accept methods
        await frontDoor.stop();
      },
      ...{ rounds: 10, kept: 5 },
    },
  });
  expect(found).toEqual({});
});
