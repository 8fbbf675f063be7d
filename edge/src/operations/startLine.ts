import { readFileSync } from 'node:fs';
import { partOf } from '../configuration/connectionString.ts';
import type { Configuration } from '../configuration/read.ts';

/** The device, or the module of it, as which the proxy connects to the hub. */
export function identityOf({ hub }: Configuration): string {
  const [device = '', module] = ['DeviceId', 'ModuleId'].map((name) => partOf(hub.connectionString, name));
  return module === undefined ? device : `${device}/${module}`;
}

/** Texts that the log must not have. */
export const secretsOf = ({ hub, broker }: Configuration): string[] =>
  [partOf(hub.connectionString, 'SharedAccessKey'), hub.key, broker.password, broker.key].filter(
    (one) => one !== undefined,
  );

/** Of the proxy. */
export const version = (): string =>
  JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')).version;

/** Fields of the first line of the log: what runs, and its configuration without secrets (G5). */
export function startFields(configuration: Configuration, env: NodeJS.ProcessEnv) {
  const { hub, broker, modules, files, limits, health, log } = configuration;
  const { url, username, clientId } = broker;
  return {
    ...{ version: version(), build: env['BUILD_COMMIT'] || 'unknown', node: process.version },
    configuration: {
      hub: { host: partOf(hub.connectionString, 'HostName'), identity: identityOf(configuration) },
      broker: { url, username, clientId, hasPassword: broker.password !== undefined },
      modules: modules.length,
      gateways: modules.filter(({ gateway }) => gateway !== undefined).length,
      files: { hosts: files.hosts, atOnce: files.atOnce },
      limits,
      health,
      log,
    },
  };
}
