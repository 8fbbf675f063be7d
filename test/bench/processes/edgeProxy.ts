import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { freePort } from '../../../sandbox/service/freePort.ts';
import { type ServiceProcess, startService } from '../../../sandbox/service/process.ts';
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
