import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Backends } from './backends/backends.ts';
import type { Hub } from './hub/hub.ts';

/** Where the service of a sandbox in this folder keeps what it keeps. */
export const dataDirectory = (directory: string): string => join(directory, 'data');

/**
 * Everything the service is told; it is told nothing else.
 * @param directory of the sandbox
 */
export function serviceEnvironment(
  hub: Hub,
  backends: Backends,
  url: string,
  directory: string,
): Record<string, string> {
  return {
    NODE_ENV: 'production',
    HUB_EVENTS_CONNECTION_STRING: hub.eventsConnectionString,
    HUB_SERVICE_CONNECTION_STRING: hub.serviceConnectionString,
    HUB_CONSUMER_GROUP: '$Default',
    INFORMATION_MODEL_URL: backends.informationModelUrl,
    TYPE_REGISTRY_URL: backends.typeRegistryUrl,
    PRINCIPAL_MANAGER_URL: backends.principalManagerUrl,
    BACKENDS_TOKEN_URL: backends.token.url,
    BACKENDS_CLIENT_ID: backends.token.clientId,
    BACKENDS_CLIENT_SECRET: backends.token.clientSecret,
    CHECKPOINTS_STORE: 'file',
    DATA_DIRECTORY: dataDirectory(directory),
    HTTP_HOST: '127.0.0.1',
    HTTP_PORT: new URL(url).port,
    LOG_LEVEL: 'info',
    NODE_EXTRA_CA_CERTS: hub.caFile,
  };
}

/** In the form that a shell, `node --env-file` and a debugger's `envFile` read alike. */
export async function writeEnvironment(file: string, environment: Readonly<Record<string, string>>): Promise<void> {
  const lines = Object.entries(environment).map(([name, value]) => `${name}='${value}'\n`);
  await writeFile(file, lines.join(''), { mode: 0o600 });
}
