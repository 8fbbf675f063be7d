import { join } from 'node:path';
import { freePort } from '../../../sandbox/service/freePort.ts';
import { type ServiceProcess, startService } from '../../../sandbox/service/process.ts';
import { projectDirectory } from '../../../sandbox/state/directories.ts';
import { withConstants } from '../../support/processes.ts';
import type { StageDescription } from './methodsStage.ts';

export interface MethodsProgram extends ServiceProcess {
  /** Where it takes calls. */
  readonly port: number;
}

interface MethodsProgramOptions {
  /** The folder of a checkout that is built; default: this one. */
  readonly build?: string | undefined;
  /** Calls at once for one device. */
  readonly inFlightPerDevice?: number;
}

/** Starts the front door of a build, or the bare handler that it is compared with. */
export async function startMethodsProgram(
  program: 'front door' | 'bare',
  { serviceConnectionString, caFile, backendsPort }: StageDescription,
  directory: string,
  { build = projectDirectory, inFlightPerDevice }: MethodsProgramOptions = {},
): Promise<MethodsProgram> {
  const [port, healthPort] = [await freePort(), await freePort()];
  const isBare = program === 'bare';
  const process = await startService({
    name: program,
    environment: {
      NODE_ENV: 'production',
      NODE_EXTRA_CA_CERTS: caFile,
      BENCH: JSON.stringify({ serviceConnectionString }),
      HUB_SERVICE_CONNECTION_STRING: serviceConnectionString,
      INFORMATION_MODEL_URL: `http://127.0.0.1:${backendsPort}/im`,
      TYPE_REGISTRY_URL: `http://127.0.0.1:${backendsPort}/tr`,
      BACKENDS_TOKEN: 'bench',
      METHODS_PORT: String(port),
      ...(inFlightPerDevice !== undefined && withConstants({ invocationLimits: { inFlightPerDevice } })),
      HTTP_HOST: '127.0.0.1',
      HTTP_PORT: String(healthPort),
      ADMIN_PORT: '0',
    },
    command: isBare ? ['node', 'scripts/run.js', 'test/bench/programs/bareMethods.ts'] : ['node', 'dist/methods.js'],
    directory: build,
    readyzUrl: isBare ? `http://127.0.0.1:${port}/ready` : `http://127.0.0.1:${healthPort}/readyz`,
    logFile: join(directory, `${isBare ? 'bare' : 'door'}.log`),
  });
  return { ...process, port };
}
