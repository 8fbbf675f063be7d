import type { SecretList } from '@device-messaging/telemetry/secrets.ts';
import type { AxiosAdapter } from 'axios';
import type { Access } from '../access/access.ts';
import type { ScopedTokens } from '../access/identity.ts';
import { createLine } from '../engine/rooms.ts';
import { createTroubles, type LogLines, type Troubles } from '../observing/log.ts';
import { type Meter, noMeter } from '../observing/metrics.ts';
import { createRedaction } from '../observing/redaction.ts';
import type { TypeRef } from '../protocol/fields.ts';
import type { MethodsSettings } from '../settings/config.ts';
import { type Backend, type BackendOptions, type CallSettings, createBackend, type probes } from './backend.ts';
import { type Cache, cacheEntries, createCache } from './cache.ts';
import type { BackendState } from './circuit.ts';
import { createDeadline } from './deadline.ts';
import { informationModel } from './informationModel.ts';
import { createObjectReader } from './objectOnBehalf.ts';
import { type Principal, principalManager } from './principalManager.ts';
import { type Call, createSending } from './sending.ts';
import { clientCredentials, identityTokens, staticToken, type TokenSettings, type TokenSource } from './tokens.ts';
import { readingBytes } from './transport.ts';
import { type Lineage, lineages, type TypeDefinition, type TypeMethods, typeRegistry } from './typeRegistry.ts';

export type BackendName = keyof typeof probes;
export type BoundBackends = ReturnType<Backends['bind']>;

type CommonSettings = TokenSettings &
  CallSettings &
  Pick<
    MethodsSettings['backends'],
    'token' | 'clientSecret' | 'cacheSeconds' | 'informationModelUrl' | 'typeRegistryUrl'
  >;

interface BackendsOptions extends Pick<BackendOptions, 'adapter' | 'random' | 'meter'> {
  /** Which backends are called with the process's identity, and the secrets for the others; those of the settings when omitted (D365). */
  readonly access?: (Pick<Access, 'backend'> & Partial<Pick<Access, 'token' | 'clientSecret'>>) | undefined;
  /** To remove from the texts of backends; those for the backends when omitted. */
  readonly secrets?: SecretList;
  /** For the log while something is wrong: how much waits, or is in progress. */
  readonly amounts?: (() => object) | undefined;
}

export type Backends = ReturnType<typeof createBackends>;

/** The three backends. Each has its own connections and circuit. */
export function createBackends(
  settings: CommonSettings & { readonly principalManagerUrl: string },
  log: LogLines,
  options: BackendsOptions = {},
) {
  const { open, newCache, states, close } = createOpener(settings, log, options);
  const types = newCache<TypeDefinition>('types');
  const identities = newCache<Principal>('identities');
  const cacheMs = settings.cacheSeconds * 1000;
  const url = settings.principalManagerUrl;
  const backends = {
    informationModel: open('informationModel', settings.informationModelUrl),
    typeRegistry: open('typeRegistry', settings.typeRegistryUrl, types),
    principalManager: open('principalManager', url, identities),
  };
  const isUp = (name: BackendName) => backends[name].isUp();

  async function allReady(needs: readonly BackendName[]): Promise<boolean> {
    for (;;) {
      const out = needs.flatMap((name) => backends[name].untilUp() ?? []);
      if (out.length === 0) return true;
      if ((await Promise.all(out)).includes(false)) return false;
    }
  }

  const toModel = createSending(backends.informationModel);
  const toRegistry = createSending(backends.typeRegistry);
  const toManager = createSending(backends.principalManager);

  return {
    bind: (call: Call) => ({
      informationModel: informationModel(toModel(call)),
      typeRegistry: typeRegistry(toRegistry(call), call, types, cacheMs),
      principalManager: principalManager(toManager(call), call, identities, cacheMs, url),
    }),
    /** Undefined when all needed backends are up. Else resolves with true when they are; false when `pointless` is aborted or at a stop (B5). */
    ready(needs: readonly BackendName[], pointless: AbortSignal): Promise<boolean> | undefined {
      if (needs.every(isUp)) return undefined;
      if (pointless.aborted) return Promise.resolve(false);
      const untilPointless = createDeadline(0, pointless).unlessCancelled;
      return untilPointless(allReady(needs)).catch(() => false);
    },
    isUp,
    /** Attempts that wait for a connection. */
    waiting: () => Object.values(backends).reduce((sum, backend) => sum + backend.waiting(), 0),
    states: states<BackendName>,
    close,
  };
}

export type MethodBackends = ReturnType<typeof createMethodBackends>;

export function createMethodBackends(settings: CommonSettings, log: LogLines, options: BackendsOptions = {}) {
  const { open, newCache, states, close } = createOpener(settings, log, options);
  const types = newCache<TypeMethods>('types');
  const informationModel = open('informationModel', settings.informationModelUrl);
  const toRegistry = createSending(open('typeRegistry', settings.typeRegistryUrl, types));

  return {
    readObject: createObjectReader(informationModel),
    lineageOf: (call: Call, model: string, type: TypeRef): Promise<Lineage> =>
      lineages(toRegistry(call), call, types, settings.cacheSeconds * 1000)(model, type),
    states: states<'informationModel' | 'typeRegistry'>,
    close,
  };
}

/** Opens the backends of a program, which share the token, the secrets and the troubles in the log. */
function createOpener(settings: CommonSettings, log: LogLines, options: BackendsOptions) {
  const { access, secrets, amounts, adapter, random, meter = noMeter } = options;
  const room = createLine({ maxMessages: Number.POSITIVE_INFINITY, maxBytes: readingBytes });
  const troubles = createTroubles(log, amounts);
  const own = {
    ...settings,
    token: access?.token?.() ?? settings.token,
    clientSecret: access?.clientSecret?.() ?? settings.clientSecret,
  };
  const shared = settings.token || settings.tokenUrl ? openTokens(own, troubles, meter, adapter) : undefined;
  const sources = new Map<ScopedTokens | undefined, TokenSource>(shared && [[undefined, shared]]);

  function tokensOf(backend: BackendName): TokenSource {
    const credential = access?.backend(backend);
    const known = sources.get(credential);
    if (known !== undefined) return known;
    if (credential === undefined) throw new Error(`there is no token for the ${backend}`);
    const source = identityTokens(credential, troubles, meter);
    sources.set(credential, source);
    return source;
  }

  const redact = createRedaction(secrets ?? [settings.token, settings.clientSecret]);
  const common = { settings, log, troubles, redact, room, adapter, random, meter };
  const countLookUp = meter.counter('device_messaging.cache.lookups');
  const opened = new Map<BackendName, Backend & { readonly entries: (() => number) | undefined }>();

  return {
    open(name: BackendName, url: string, cache?: Pick<Cache<unknown>, 'entries'>): Backend {
      const backend = createBackend({ ...common, tokens: tokensOf(name), backend: name, url });
      opened.set(name, { ...backend, entries: cache?.entries });
      return backend;
    },
    newCache: <T>(name: 'types' | 'identities') => createCache<T>(cacheEntries, (result) => countLookUp(name, result)),
    /** For operators. The token endpoint is the one that is out, if any; there is none when a fixed token is used. */
    states<Opened extends BackendName>(): Readonly<Record<Opened, BackendState> & { tokenEndpoint?: BackendState }> {
      const backends = Array.from(opened, ([name, { state, entries }]) => {
        return [name, { ...state(), cacheEntries: entries?.() }];
      });
      const states = [...sources.values()].flatMap((tokens) => tokens.state() ?? []);
      const tokenEndpoint = states.find(({ outage }) => outage !== undefined) ?? states[0];
      return { ...Object.fromEntries(backends), ...(tokenEndpoint && { tokenEndpoint }) };
    },
    async close(): Promise<void> {
      await Promise.all([...opened.values(), ...sources.values()].map((one) => one.close()));
      troubles.close();
    },
  };
}

export const openTokens = (own: TokenSettings, troubles: Troubles, meter?: Meter, adapter?: AxiosAdapter) =>
  own.token === '' ? clientCredentials(own, troubles, meter, adapter) : staticToken(own.token);
