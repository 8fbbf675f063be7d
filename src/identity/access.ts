import type { Troubles } from '../log/troubles.ts';
import type { MethodsSettings, Settings } from '../settings/config.ts';
import { type Account, accountOf } from '../settings/derived.ts';
import { createIdentity, type ScopedTokens } from './identity.ts';

/** By what the clients of a service get in: a connection string with a key, or an address and the process's identity. */
export type EventsAccess =
  | string
  | { readonly namespace: string; readonly eventHub: string; readonly credential: ScopedTokens };
export type ServiceAccess = string | { readonly hostName: string; readonly credential: ScopedTokens };
export type AccountAccess = string | { readonly url: string; readonly credential: ScopedTokens };

/** What a program can use, and how it gets in: the only place that answers this (D365). */
export interface Access {
  /** For the events of the hub. */
  events(): EventsAccess;
  /** For replies and methods. */
  service(): ServiceAccess;
  account(of: AccountUse): AccountAccess;
  /** Undefined for a backend that takes the token of all backends. */
  backend(name: BackendUse): ScopedTokens | undefined;
  /** For the log: what is used, by what. */
  ways(): Readonly<Record<string, Way>>;
}

/** With `look-up`, the key of the hub, which names its event endpoint (D401). */
type Way = 'key' | 'look-up' | 'signature' | 'token' | 'client secret' | 'identity';

type AccountUse = 'checkpoints' | 'deadLetters' | 'files';
type BackendUse = 'informationModel' | 'typeRegistry' | 'principalManager';

type AnySettings = Pick<Settings, 'identity'> & {
  readonly hub: MethodsSettings['hub'] & Partial<Settings['hub']>;
  readonly backends: MethodsSettings['backends'] & Partial<Settings['backends']>;
  readonly store: Account & { readonly kind?: string };
  /** The front door reads only where they are not. */
  readonly checkpoints?: Partial<Account> & { readonly container: string };
  readonly deadLetters?: Partial<Account> & { readonly container: string };
  readonly files?: Account & Pick<MethodsSettings['files'], 'container'>;
};

/** @param troubles of the log; without them, a failure to get a token is in the troubles of its users only */
export function accessOf(settings: AnySettings, troubles?: Troubles): Access {
  const { identity: own, hub, backends, store } = settings;
  const identity = createIdentity({ settings: own, troubles });
  const accountFor = (of: AccountUse): Account => accountOf({ ...nowhere, ...settings[of] }, store);
  const scopes: Readonly<Record<BackendUse, string | undefined>> = {
    informationModel: backends.informationModelScope,
    typeRegistry: backends.typeRegistryScope,
    principalManager: backends.principalManagerScope,
  };

  function backendWays() {
    const shared = backends.token === '' ? 'client secret' : 'token';
    return Object.entries(scopes).flatMap(([name, scope]) =>
      scope === undefined ? [] : [[name, scope === '' ? shared : 'identity'] as const],
    );
  }

  function eventsWay(): Way {
    if (hub.eventsNamespace) return 'identity';
    return hub.eventsConnectionString ? 'key' : 'look-up';
  }

  function accountWay(of: AccountUse) {
    const { connectionString, accountUrl } = accountFor(of);
    if (accountUrl !== '') return 'identity';
    return /SharedAccessSignature=/.test(connectionString) ? 'signature' : 'key';
  }

  return {
    events: () =>
      hub.eventsNamespace
        ? {
            namespace: hub.eventsNamespace,
            eventHub: hub.eventsName ?? '',
            credential: identity.tokensFor(own.eventsScope),
          }
        : (hub.eventsConnectionString ?? ''),
    service: () =>
      hub.hostName === ''
        ? hub.serviceConnectionString
        : { hostName: hub.hostName, credential: identity.tokensFor(own.hubScope) },
    account(of) {
      const { connectionString, accountUrl } = accountFor(of);
      return accountUrl === ''
        ? connectionString
        : { url: accountUrl, credential: identity.tokensFor(own.storageScope) };
    },
    backend(name) {
      const scope = scopes[name];
      return scope ? identity.tokensFor(scope) : undefined;
    },
    ways: () => ({
      ...(hub.eventsConnectionString !== undefined && { events: eventsWay() }),
      service: hub.hostName === '' ? 'key' : 'identity',
      ...Object.fromEntries(backendWays()),
      ...(store.kind === 'blob' && { checkpoints: accountWay('checkpoints'), deadLetters: accountWay('deadLetters') }),
      ...(settings.files && settings.files.container !== '' && { files: accountWay('files') }),
    }),
  };
}

const nowhere: Account = { connectionString: '', accountUrl: '' };
