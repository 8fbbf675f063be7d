import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Hub } from 'iot-hub-emulator';
import type { Backends } from '../backends/backends.ts';

/** The data directory of the service of a sandbox in this folder. */
export const dataDirectory = (directory: string): string => join(directory, 'data');

/**
 * The whole environment of the service.
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
    PRINCIPAL_MANAGER_URL: backends.principalManagerUrl,
    ...ofBackends(backends),
    STORE: 'file',
    DATA_DIRECTORY: dataDirectory(directory),
    HTTP_HOST: '127.0.0.1',
    HTTP_PORT: new URL(url).port,
    ADMIN_PORT: '0',
    LOG_LEVEL: 'info',
    NODE_EXTRA_CA_CERTS: hub.caFile,
  };
}

/** The whole environment of the front door; `at` are its ports. */
export function frontDoorEnvironment(
  hub: Hub,
  backends: Backends,
  { connectionString, container }: { connectionString: string; container: string },
  at: { port: number; healthPort: number; adminPort: number },
): Record<string, string> {
  return {
    NODE_ENV: 'production',
    // It uses HTTPS alone: the port of AMQP says nothing, above all when it is the usual one and left out.
    HUB_SERVICE_CONNECTION_STRING: hub.serviceConnectionString.replace(
      /^HostName=[^;]*/,
      `HostName=${new URL(hub.restUrl).host}`,
    ),
    ...ofBackends(backends),
    METHODS_PORT: String(at.port),
    METHODS_FILES_CONNECTION_STRING: connectionString,
    METHODS_FILES_CONTAINER: container,
    METHODS_FILES_TENANT_CLAIM: 'tenant',
    HTTP_HOST: '127.0.0.1',
    HTTP_PORT: String(at.healthPort),
    ADMIN_PORT: String(at.adminPort),
    LOG_LEVEL: 'info',
    NODE_EXTRA_CA_CERTS: hub.caFile,
  };
}

const ofBackends = ({ informationModelUrl, typeRegistryUrl, token }: Backends) => ({
  INFORMATION_MODEL_URL: informationModelUrl,
  TYPE_REGISTRY_URL: typeRegistryUrl,
  BACKENDS_TOKEN_URL: token.url,
  BACKENDS_CLIENT_ID: token.clientId,
  BACKENDS_CLIENT_SECRET: token.clientSecret,
});

/** In the form that a shell, `node --env-file` and a debugger's `envFile` read alike. */
export async function writeEnvironment(file: string, environment: Readonly<Record<string, string>>): Promise<void> {
  const lines = Object.entries(environment).map(([name, value]) => `${name}='${value}'\n`);
  await writeFile(file, lines.join(''), { mode: 0o600 });
}
