import { cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { startHub } from 'iot-hub-emulator';
import { createJournal } from 'iot-hub-emulator/journal';
import { afterAll, expect, it } from 'vitest';
import { folderForAll } from '../../iot-hub-emulator/test/support/fixtures.ts';
import { startBroker } from '../../sandbox/edge/broker.ts';
import { buildService } from '../../sandbox/service/build.ts';
import { freePort } from '../../sandbox/service/freePort.ts';
import { startService } from '../../sandbox/service/process.ts';
import { imageOf } from './pod.ts';

const manifest = JSON.parse(readFileSync('deploy/edge/deployment.json', 'utf8'));
const agent = manifest.modulesContent.$edgeAgent['properties.desired'];
const proxy = agent.modules['edge-proxy'];
const options = JSON.parse(proxy.settings.createOptions);

const directory = folderForAll('iot-edge');
const ends: (() => Promise<unknown>)[] = [];
afterAll(async () => {
  for (const end of ends.reverse()) await end();
});

it('the deployment manifest keeps to what the agent of IoT Edge takes', () => {
  expect(agent.schemaVersion).toBe('1.1');
  expect(Object.keys(agent.systemModules)).toEqual(['edgeAgent', 'edgeHub']);
  for (const module of [...Object.values<typeof proxy>(agent.systemModules), proxy]) {
    expect(module.type).toBe('docker');
    // The agent reads up to 512 characters from one property.
    expect(module.settings.createOptions.length).toBeLessThanOrEqual(512);
    expect(() => JSON.parse(module.settings.createOptions)).not.toThrow();
  }
  expect(options.HostConfig).toMatchObject({
    ReadonlyRootfs: true,
    CapDrop: ['ALL'],
    SecurityOpt: ['no-new-privileges'],
  });
});

it('the edge proxy starts with the environment and the folders of the deployment manifest (D387)', async () => {
  await buildService();
  const hub = await startHub({
    ...{ journal: createJournal(), directory: join(directory, 'hub'), devices: [{ deviceId: 'e' }] },
  });
  ends.push(() => hub.close());
  const user = { password: 'a password', publish: ['m/in/#'], subscribe: ['m/out/#'] };
  const broker = await startBroker({ users: { 'edge-proxy': user } });
  ends.push(() => broker.close());

  const mounts = options.HostConfig.Binds.map((bind: string) => bind.split(':')[1]);
  const here = (path: string) =>
    mounts.some((mount: string) => path.startsWith(mount)) ? join(directory, path) : path;
  for (const mount of mounts) mkdirSync(here(mount), { recursive: true });
  cpSync(hub.caFile, here('/config/ca.pem'));
  const environment = Object.fromEntries(
    Object.entries<{ value: string }>(proxy.env).map(([name, { value }]) => [name, here(value)]),
  );
  const [exposed = ''] = Object.keys(options.HostConfig.PortBindings);
  const port = await freePort();
  writeFileSync(
    environment['EDGE_PROXY_CONFIG'] ?? '',
    JSON.stringify({
      hub: { connectionString: hub.deviceConnectionString('e'), caFile: 'ca.pem' },
      broker: { url: broker.url, username: 'edge-proxy', password: user.password },
      modules: [
        {
          ...{ id: 'press', identity: 'press', topics_methods_in: 'm/in', topics_methods_out: 'm/out' },
          files: { folder: here('/volumes/press') },
        },
      ],
      files: { hosts: ['files.example'] },
      health: { host: '127.0.0.1', port },
    }),
  );
  expect(readFileSync('edge/Dockerfile', 'utf8')).toContain(`EXPOSE ${exposed.replace('/tcp', '')}\n`);
  const image = imageOf('edge/Dockerfile');
  const started = await startService({
    ...{ name: 'The edge proxy', command: image.command, environment: { ...image.environment, ...environment } },
    readyzUrl: `http://127.0.0.1:${port}/readyz`,
    logFile: join(directory, 'log'),
  });
  ends.push(() => started.kill());
  expect(broker.subscriptionsOf('edge-proxy').length).toBeGreaterThan(0);
  await started.stop(options.StopTimeout * 1000);
  expect(await started.exited).toMatchObject({ code: 0 });
});
