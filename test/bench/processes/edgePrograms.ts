import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { freePort } from '../../../sandbox/service/freePort.ts';
import { type ServiceProcess, startService } from '../../../sandbox/service/process.ts';
import { withConstants } from '../../support/processes.ts';
import type { EdgeStageDescription } from './edgeStage.ts';
import { imageCommand } from './imageCommand.ts';

/** Starts the edge proxy of a build, which takes so many calls at once. */
export async function startEdgeProxy(
  stage: EdgeStageDescription,
  directory: string,
  inFlight: number,
  build: string,
): Promise<ServiceProcess> {
  const port = await freePort();
  const file = join(directory, 'edge-proxy.json');
  const objectIds = ['00000000-0000-4000-8000-000000000001'];
  const configuration = {
    hub: { connectionString: stage.deviceConnectionString, caFile: stage.caFile },
    broker: { url: stage.brokerUrl, username: 'proxy', password: 'bench' },
    modules: [{ id: 'press', objectIds, topics_methods_in: 'press/in', topics_methods_out: 'press/out' }],
    limits: { inFlight, inFlightPerModule: inFlight },
    health: { host: '127.0.0.1', port },
  };
  await writeFile(file, JSON.stringify(configuration), { mode: 0o600 });
  return startService({
    name: 'The edge proxy',
    environment: { NODE_ENV: 'production' },
    command: ['node', ...imageCommand(build, 'edge/Dockerfile'), '--config', file],
    directory: build,
    readyzUrl: `http://127.0.0.1:${port}/readyz`,
    logFile: join(directory, 'edge.log'),
  });
}

/** Starts the front door of a build, which takes so many calls at once for one device. */
export async function startDoorTo(
  { serviceConnectionString, caFile, backendsPort }: EdgeStageDescription,
  directory: string,
  inFlight: number,
  build: string,
): Promise<ServiceProcess & { readonly port: number }> {
  const [port, healthPort] = [await freePort(), await freePort()];
  const door = await startService({
    name: 'The front door',
    environment: {
      NODE_ENV: 'production',
      NODE_EXTRA_CA_CERTS: caFile,
      HUB_SERVICE_CONNECTION_STRING: serviceConnectionString,
      INFORMATION_MODEL_URL: `http://127.0.0.1:${backendsPort}/im`,
      TYPE_REGISTRY_URL: `http://127.0.0.1:${backendsPort}/tr`,
      BACKENDS_TOKEN: 'bench',
      METHODS_PORT: String(port),
      ...withConstants({ invocationLimits: { inFlightPerDevice: inFlight } }),
      HTTP_HOST: '127.0.0.1',
      HTTP_PORT: String(healthPort),
      ADMIN_PORT: '0',
    },
    command: ['node', 'dist/methods.js'],
    directory: build,
    readyzUrl: `http://127.0.0.1:${healthPort}/readyz`,
    logFile: join(directory, 'door.log'),
  });
  return { ...door, port };
}
