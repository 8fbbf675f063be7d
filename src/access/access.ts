import { useProxies } from '@device-messaging/telemetry/outbound.ts';
import type { MethodsSettings, Settings } from '../settings/config.ts';
import { type Account, isNowhere, proxiesIn } from '../settings/derived.ts';
import { settingIn } from '../settings/table.ts';
import { createIdentity, inBrief, type ScopedTokens } from './identity.ts';
import { currentOf, openSecretFiles, type Secret, type SecretFilesTelling, whenChanged } from './secretFiles.ts';

/** By what clients get in: a connection string with a key, which may be in a file that changes (D397), or an address and an identity. */
export type EventsAccess =
  | Secret
  | { readonly namespace: string; readonly eventHub: string; readonly credential: ScopedTokens };
export type ServiceAccess = Secret | { readonly hostName: string; readonly credential: ScopedTokens };
export type AccountAccess = Secret | { readonly url: string; readonly credential: ScopedTokens };

/** With `look-up`, the key of the hub, which names its event endpoint (D401). */
type Way = 'key' | 'look-up' | 'signature' | 'token' | 'client secret' | 'identity';

type AccountUse = 'checkpoints' | 'deadLetters' | 'files';
const backendUses = ['informationModel', 'typeRegistry', 'principalManager'] as const;
type BackendUse = (typeof backendUses)[number];

type AnySettings = Pick<Settings, 'identity'> & {
  readonly hub: MethodsSettings['hub'] & Partial<Settings['hub']>;
  readonly backends: MethodsSettings['backends'] & Partial<Settings['backends']>;
  readonly store: Account & { readonly kind?: string };
  /** The front door reads only where they are not. */
  readonly checkpoints?: Partial<Account> & { readonly container: string };
  readonly deadLetters?: Partial<Account> & { readonly container: string };
  readonly files?: Account & Pick<MethodsSettings['files'], 'container'>;
  readonly network?: Settings['network'];
};

export type Access = ReturnType<typeof accessOf>;

/**
 * What a program can use, and how it gets in: the only place that answers this (D365).
 * @param telling without it, a failure to get a token is in the troubles of its users only, and files are read again only after a refusal
 */
export function accessOf(settings: AnySettings, telling?: SecretFilesTelling) {
  const { identity: own, hub, backends, store } = settings;
  const tokensFor = createIdentity(own, telling?.troubles);
  const secrets = openSecretFiles(settings, telling);
  const secretAt = (path: string): Secret => secrets.of(path) ?? String(settingIn(settings, path) ?? '');
  if (settings.network) followProxies(settings.network, secretAt);
  function accountFor(of: AccountUse) {
    const ofOwn: Account = { connectionString: '', accountUrl: '', ...settings[of] };
    return isNowhere(ofOwn) ? { ...store, group: 'store' } : { ...ofOwn, group: of };
  }
  const scopeOf = (name: BackendUse): string | undefined => backends[`${name}Scope`];

  const sharedWay: Way = backends.token === '' ? 'client secret' : 'token';
  const backendWays = backendUses
    .filter((name) => scopeOf(name) !== undefined)
    .map((name) => [name, scopeOf(name) === '' ? sharedWay : 'identity'] as const);

  const keyWay = hub.eventsConnectionString ? 'key' : 'look-up';
  function accountWay(of: AccountUse): Way {
    const { connectionString, accountUrl } = accountFor(of);
    if (accountUrl !== '') return 'identity';
    return /SharedAccessSignature=/.test(connectionString) ? 'signature' : 'key';
  }

  return {
    events(): EventsAccess {
      const { eventsNamespace: namespace, eventsName: eventHub = '' } = hub;
      if (!namespace) return secretAt('hub.eventsConnectionString');
      return { namespace, eventHub, credential: inBrief(tokensFor(own.eventsScope)) };
    },
    service: (): ServiceAccess =>
      hub.hostName === ''
        ? secretAt('hub.serviceConnectionString')
        : { hostName: hub.hostName, credential: tokensFor(own.hubScope) },
    account(of: AccountUse): AccountAccess {
      const { accountUrl: url, group } = accountFor(of);
      return url === '' ? secretAt(`${group}.connectionString`) : { url, credential: tokensFor(own.storageScope) };
    },
    /** Undefined for a backend that takes the token of all backends. */
    backend(name: BackendUse): ScopedTokens | undefined {
      const scope = scopeOf(name);
      return scope ? tokensFor(scope) : undefined;
    },
    /** The token of all backends; empty when the token endpoint gives it. */
    token: () => secretAt('backends.token'),
    clientSecret: () => secretAt('backends.clientSecret'),
    /** That others have to show at the admin port; empty when none is needed. */
    adminToken: () => secretAt('admin.token'),
    ways: (): Readonly<Record<string, Way>> => ({
      ...(hub.eventsConnectionString !== undefined && { events: hub.eventsNamespace ? 'identity' : keyWay }),
      service: hub.hostName === '' ? 'key' : 'identity',
      ...Object.fromEntries(backendWays),
      ...(store.kind === 'blob' && { checkpoints: accountWay('checkpoints'), deadLetters: accountWay('deadLetters') }),
      ...(settings.files && settings.files.container !== '' && { files: accountWay('files') }),
    }),
    close: secrets.close,
  };
}

/** A proxy can have a password: what begins after a change goes to it with the new one. */
function followProxies(network: Settings['network'], secretAt: (path: string) => Secret): void {
  const now = { ...network };
  for (const name of ['httpsProxy', 'httpProxy'] as const) {
    const proxy = secretAt(`network.${name}`);
    whenChanged(proxy, () => {
      now[name] = currentOf(proxy);
      useProxies(proxiesIn(now));
    });
  }
}
