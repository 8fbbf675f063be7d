import { readFileSync } from 'node:fs';
import { networkInterfaces } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { freePort } from '../../sandbox/service/freePort.ts';
import { type ServiceProcess, startService } from '../../sandbox/service/process.ts';
import { envelope } from '../../sandbox/stories/wire.ts';
import { type Relay, startRelay } from '../support/relay.ts';
import { findings } from './check/run.ts';
import { nextAck, sandboxForAll } from './testSandbox.ts';

// The service where everything has an IPv6 address, which it listens on, too (D409).

const hasIpv6 = Object.values(networkInterfaces()).some((all) => all?.some(({ address }) => address === '::1'));

describe.runIf(hasIpv6)('with IPv6 addresses (a machine with ::1)', () => {
  const sandbox = sandboxForAll({ service: false, keepsContracts: false });
  let relays: Relay[];
  let environment: Readonly<Record<string, string>>;
  let running: ServiceProcess | undefined;
  beforeAll(async () => {
    relays = [];
    async function at(port: number | string): Promise<string> {
      const relay = await startRelay(Number(port), '::1');
      relays.push(relay);
      return `[::1]:${relay.port}`;
    }
    const { hub, backends, state } = sandbox;
    const moved = async (url: string) => `http://${await at(new URL(url).port)}${new URL(url).pathname}`;
    const hubPlace = await at(hub.ports.amqps);
    environment = {
      ...state.service.environment,
      HUB_EVENTS_CONNECTION_STRING: hub.eventsConnectionString
        .replace(/sb:\/\/[^;]*/, `sb://${hubPlace}/`)
        .replace(';UseDevelopmentEmulator=true', ''),
      HUB_SERVICE_CONNECTION_STRING: hub.serviceConnectionString.replace(/HostName=[^;]*/, `HostName=${hubPlace}`),
      INFORMATION_MODEL_URL: await moved(backends.informationModelUrl),
      TYPE_REGISTRY_URL: await moved(backends.typeRegistryUrl),
      PRINCIPAL_MANAGER_URL: await moved(backends.principalManagerUrl),
      BACKENDS_TOKEN_URL: await moved(backends.token.url),
      HTTP_HOST: '::',
      ADMIN_HOST: '::1',
    };
  });
  afterAll(async () => {
    await running?.stop();
    await Promise.all(relays.map((relay) => relay.close()));
  });
  it.each(['amqp', 'websockets'])('the service handles a message over %s, and listens on ::', async (transport) => {
    const [port, adminPort] = [await freePort(), await freePort()];
    const logFile = join(sandbox.directory, `${transport}.log`);
    running = await startService({
      environment: { ...environment, HUB_TRANSPORT: transport, HTTP_PORT: String(port), ADMIN_PORT: String(adminPort) },
      readyzUrl: `http://[::1]:${port}/readyz`,
      logFile,
    });
    const pump = await sandbox.connect('pump-1');
    const body = { model: 'svc.device', type: 'pump', properties: { serial: transport } };
    await pump.send(envelope('model.create', 'six'), Buffer.from(JSON.stringify(body)));
    expect((await nextAck(pump)).body).toMatchObject({ success: true });
    expect((await fetch(`http://[::1]:${adminPort}/`)).status).toBeLessThan(500);
    await pump.close();
    await running.stop();
    running = undefined;
    expect(readFileSync(logFile, 'utf8')).not.toMatch(/"level":"warn"|DeprecationWarning/);
  });
  it.each(['amqp', 'websockets'])('the check finds nothing wrong over %s', async (transport) => {
    const { code, found } = await findings([], { ...environment, HUB_TRANSPORT: transport });
    expect([code, found.filter(({ mark }) => mark !== 'ok')]).toEqual([0, []]);
  });
});
