import { useProxies } from '@device-messaging/telemetry/outbound.ts';
import type { MethodsSettings, Settings } from '../settings/config.ts';
import { type Account, isNowhere, proxiesIn } from '../settings/derived.ts';
import { createIdentity, type ScopedTokens } from './identity.ts';
import { openSecretFiles, type Secret, type SecretFiles, type SecretFilesTelling } from './secretFiles.ts';

/**
 * By what the clients of a service get in: a connection string with a key, which may be in a file that changes (D397), or an
 * address and the process's identity.
 */
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
  readonly admin?: Pick<Settings['admin'], 'token'>;
  readonly network?: Settings['network'];
};

export type Access = ReturnType<typeof accessOf>;

/**
 * What a program can use, and how it gets in: the only place that answers this (D365).
 * @param telling of a program that runs for long; without it, a failure to get a token is in the troubles of its users only, and files of
 * secrets are read again only when the other side refuses what they had
 */
export function accessOf(settings: AnySettings, telling?: SecretFilesTelling) {
  const { identity: own, hub, backends, store, admin } = settings;
  const tokensFor = createIdentity(own, telling?.troubles);
  const secrets = openSecretFiles(settings, telling);
  if (settings.network) followProxies(settings.network, secrets);
  /** That of its own, or that of all stores. */
  function accountFor(of: AccountUse) {
    const ofOwn: Account = { connectionString: '', accountUrl: '', ...settings[of] };
    return isNowhere(ofOwn) ? { ...store, group: 'store' } : { ...ofOwn, group: of };
  }
  const scopeOf = (name: BackendUse): string | undefined => backends[`${name}Scope`];

  const sharedWay: Way = backends.token === '' ? 'client secret' : 'token';
  const backendWays = backendUses
    .filter((name) => scopeOf(name) !== undefined)
    .map((name) => [name, scopeOf(name) === '' ? sharedWay : 'identity'] as const);

  function eventsWay(): Way {
    if (hub.eventsNamespace) return 'identity';
    return hub.eventsConnectionString ? 'key' : 'look-up';
  }

  function accountWay(of: AccountUse): Way {
    const { connectionString, accountUrl } = accountFor(of);
    if (accountUrl !== '') return 'identity';
    return /SharedAccessSignature=/.test(connectionString) ? 'signature' : 'key';
  }

  return {
    events(): EventsAccess {
      const { eventsNamespace: namespace, eventsName: eventHub = '', eventsConnectionString = '' } = hub;
      return namespace
        ? { namespace, eventHub, credential: tokensFor(own.eventsScope) }
        : (secrets.of('hub.eventsConnectionString') ?? eventsConnectionString);
    },
    /** For replies and methods. */
    service: (): ServiceAccess =>
      hub.hostName === ''
        ? (secrets.of('hub.serviceConnectionString') ?? hub.serviceConnectionString)
        : { hostName: hub.hostName, credential: tokensFor(own.hubScope) },
    account(of: AccountUse): AccountAccess {
      const { connectionString, accountUrl, group } = accountFor(of);
      return accountUrl === ''
        ? (secrets.of(`${group}.connectionString`) ?? connectionString)
        : { url: accountUrl, credential: tokensFor(own.storageScope) };
    },
    /** Undefined for a backend that takes the token of all backends. */
    backend(name: BackendUse): ScopedTokens | undefined {
      const scope = scopeOf(name);
      return scope ? tokensFor(scope) : undefined;
    },
    /** The token of all backends; empty when the token endpoint gives it. */
    token: (): Secret => secrets.of('backends.token') ?? backends.token,
    /** For the token endpoint. */
    clientSecret: (): Secret => secrets.of('backends.clientSecret') ?? backends.clientSecret,
    /** That others have to show at the admin port; empty when none is needed. */
    adminToken: (): Secret => secrets.of('admin.token') ?? admin?.token ?? '',
    /** For the log: what is used, by what. */
    ways: (): Readonly<Record<string, Way>> => ({
      ...(hub.eventsConnectionString !== undefined && { events: eventsWay() }),
      service: hub.hostName === '' ? 'key' : 'identity',
      ...Object.fromEntries(backendWays),
      ...(store.kind === 'blob' && { checkpoints: accountWay('checkpoints'), deadLetters: accountWay('deadLetters') }),
      ...(settings.files && settings.files.container !== '' && { files: accountWay('files') }),
    }),
    close: secrets.close,
  };
}

/** A proxy can have a password: what begins after a change goes to it with the new one. */
function followProxies(network: Settings['network'], secrets: SecretFiles): void {
  const now = { ...network };
  for (const name of ['httpsProxy', 'httpProxy'] as const) {
    const file = secrets.of(`network.${name}`);
    file?.onChange(() => {
      now[name] = file.current();
      useProxies(proxiesIn(now));
    });
  }
}
