import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { ProxyVariables } from '@device-messaging/telemetry/proxies.ts';
import { roundsInExpiry } from './constants.ts';
import { partOf } from './formats.ts';
import type { Settings } from './table.ts';

/** The event hub that is read, by its name in its namespace. */
export const eventHubNameOf = (hub: Pick<Settings['hub'], 'eventsConnectionString' | 'eventsName'>): string =>
  hub.eventsName || partOf(hub.eventsConnectionString, 'EntityPath');

/** Whether no setting names the events: then the hub is asked for its built-in endpoint (D401). */
export const isLookedUp = (hub: Pick<Settings['hub'], 'eventsConnectionString' | 'eventsNamespace'>): boolean =>
  hub.eventsConnectionString === '' && hub.eventsNamespace === '';

/** What names a storage account: a connection string with a key, or the URL for an identity. At most one is set. */
export type Account = Readonly<Pick<Settings['store'], 'connectionString' | 'accountUrl'>>;

export const isNowhere = ({ connectionString, accountUrl }: Account): boolean =>
  connectionString === '' && accountUrl === '';

/** For what may have a storage account of its own (D292). */
export const accountOf = (own: Account, store: Account): Account => (isNowhere(own) ? store : own);

/** Where it is, for operators. @param name the beginning of its own settings */
export function placeOf(
  own: Account,
  store: Account & Pick<Settings['store'], 'kind'>,
  name: 'CHECKPOINTS' | 'DEAD_LETTERS' | 'METHODS_FILES',
): { readonly setting: string; readonly containerSetting?: string } {
  if (store.kind === 'file') return { setting: 'DATA_DIRECTORY' };
  const way = accountOf(own, store).accountUrl ? 'ACCOUNT_URL' : 'CONNECTION_STRING';
  return { setting: `${isNowhere(own) ? 'STORE' : name}_${way}`, containerSetting: `${name}_CONTAINER` };
}

/** Limits of one partition: half, so that the others always have room. */
export const partitionShare = ({ maxMessages, maxBytes }: Pick<Settings['delivery'], 'maxMessages' | 'maxBytes'>) => ({
  maxMessages: Math.ceil(maxMessages / 2),
  maxBytes: Math.floor(maxBytes / 2),
});

/** Interval in which an instance renews its ownership and reads that of the others. */
export const roundMs = (expirySeconds: number): number => (expirySeconds * 1000) / roundsInExpiry;

/** Time for the hub to settle one reply, before it is sent again. */
export const settleWithinMs = (maxWaitSeconds: number): number =>
  Math.min(10_000, Math.max(1_000, (maxWaitSeconds * 1000) / 6));

/** A process that has not run for this time may have lost its partitions: its last renewal may be some rounds old (D179). */
export const processPauseMs = (expirySeconds: number): number => (expirySeconds * 1000) / 2;

export const healthAddress = ({ host, port }: Settings['http']) => ({
  ...{ host, port },
  settings: { host: 'HTTP_HOST', port: 'HTTP_PORT' },
});

export const proxiesIn = ({ httpsProxy, httpProxy, noProxy }: Settings['network']): ProxyVariables => ({
  https: httpsProxy,
  http: httpProxy,
  except: noProxy,
});

export type HubLogin = ReturnType<typeof hubLoginOf>;
export const amqpsPort = 5671;

/** @param connectionString of a hub, that the settings have accepted */
export function hubLoginOf(connectionString: string) {
  const hostName = partOf(connectionString, 'HostName');
  const [, host = hostName, port] = /^(.*?)(?::(\d+))?$/.exec(hostName) ?? [];
  return {
    ...{ host, port: Number(port ?? amqpsPort) },
    policy: partOf(connectionString, 'SharedAccessKeyName'),
    key: partOf(connectionString, 'SharedAccessKey'),
  };
}

/** The hub by its name alone, without the rest of its host name. */
export const hubNameOf = ({ host }: Pick<HubLogin, 'host'>): string => host.split('.', 1)[0] ?? host;

/** The folder of `package.json` and `config`: the nearest one with `config` above this module, which is deeper in the sources than in a build. */
export const home = (() => {
  let folder = import.meta.dirname;
  while (!existsSync(join(folder, 'config')) && dirname(folder) !== folder) folder = dirname(folder);
  return folder;
})();

/** `service.version` of metrics and spans, as semantic versions tell builds apart. */
export function versionOfBuild(env: NodeJS.ProcessEnv): string {
  const { version, build } = thisBuild(env);
  return build === 'unknown' ? version : `${version}+${build}`;
}

/** Which build runs, for the first line of the log: by its version, and the commit that was named when the image was built. */
export function thisBuild(env: NodeJS.ProcessEnv) {
  const { version }: { readonly version: string } = JSON.parse(readFileSync(join(home, 'package.json'), 'utf8'));
  return { version, build: env['BUILD_COMMIT'] || 'unknown', node: process.version };
}
