import type { AxiosAdapter } from 'axios';
import type { SecretList } from 'telemetry/secretList.ts';
import type { Access } from '../identity/access.ts';
import type { ScopedTokens } from '../identity/identity.ts';
import type { Secret } from '../identity/rotatingSecret.ts';
import type { LogLines } from '../log/log.ts';
import { createTroubles, type Troubles } from '../log/troubles.ts';
import type { Meter } from '../metrics/meter.ts';
import type { BackendKey } from '../protocol/vocabulary.ts';
import { type Backend, type BackendSettings, createBackend } from './http.ts';
import { identityTokens } from './identityTokens.ts';
import type { ReadingRoom } from './largeAnswer.ts';
import { createRedaction } from './redaction.ts';
import { policy } from './retryPolicy.ts';
import type { BackendState } from './state.ts';
import { clientCredentials } from './token.ts';
import { staticToken, type TokenSource } from './tokenSource.ts';

/** How a program authenticates to the backends. */
interface TokenSettings<S extends Secret = string> {
  /** Fixed bearer token; empty when the token endpoint is used. */
  readonly token: S;
  readonly tokenUrl: string;
  readonly clientId: string;
  readonly clientSecret: S;
  readonly tokenScope: string;
}

interface CallSettings {
  readonly attemptTimeoutSeconds: number;
  readonly connections: number;
  /** For tests: no operator would choose them (B5, `response_too_large`). */
  readonly circuitFailures?: number;
  readonly maxAnswerBytes?: number;
}

/** Settings that the service and the front door share. */
export interface CommonSettings extends TokenSettings, CallSettings {
  readonly cacheSeconds: number;
}

export interface BackendOpenerOptions {
  /** Which backends are called with the process's identity, and the secrets for the others; those of the settings when omitted (D365). */
  readonly access?: (Pick<Access, 'backend'> & Partial<Pick<Access, 'token' | 'clientSecret'>>) | undefined;
  /** To remove from the texts of backends; those for the backends when omitted. */
  readonly secrets?: SecretList;
  /** For the log while something is wrong: how much waits. */
  readonly amounts?: (() => object) | undefined;
  /** For large answers of all backends; they are charged nowhere when omitted. */
  readonly room?: ReadingRoom;
  /** Replaces the network, for the backends and the token endpoint. */
  readonly adapter?: AxiosAdapter;
  readonly random?: () => number;
  readonly meter?: Meter;
}

/** For operators, of the one that is out, if any; empty when a fixed token is used. */
export type TokenEndpointState = { readonly tokenEndpoint?: BackendState };

/** Opens the backends of a program, which share the token, the secrets and the troubles in the log. */
export interface BackendOpener {
  open(backend: Exclude<BackendKey, 'tokenEndpoint'>, url: string): Backend;
  tokenEndpoint(): TokenEndpointState;
  /** Closes all that were opened. */
  close(): Promise<void>;
}

export function createBackendOpener(
  settings: CommonSettings,
  log: LogLines,
  { access, secrets, amounts, room, adapter, random, meter }: BackendOpenerOptions,
): BackendOpener {
  const troubles = createTroubles(log, amounts);
  const own = {
    ...settings,
    token: access?.token?.() ?? settings.token,
    clientSecret: access?.clientSecret?.() ?? settings.clientSecret,
  };
  const shared =
    settings.token === '' && settings.tokenUrl === '' ? undefined : openTokens(own, troubles, meter, adapter);
  const sources = new Map<ScopedTokens | undefined, TokenSource>(shared && [[undefined, shared]]);

  /** One for the backends of one scope, or of none. */
  function tokensOf(backend: Exclude<BackendKey, 'tokenEndpoint'>): TokenSource {
    const credential = access?.backend(backend);
    const known = sources.get(credential);
    if (known !== undefined) return known;
    if (credential === undefined) throw new Error(`there is no token for the ${backend}`);
    const source = identityTokens(credential, troubles, meter);
    sources.set(credential, source);
    return source;
  }

  const redact = createRedaction(secrets ?? [settings.token, settings.clientSecret]);
  const common = { settings: backendSettings(settings), log, troubles, redact, room, adapter, random, meter };
  const opened: Backend[] = [];

  return {
    open(backend, url) {
      const one = createBackend({ ...common, tokens: tokensOf(backend), backend, url });
      opened.push(one);
      return one;
    },
    tokenEndpoint() {
      const states = [...sources.values()].flatMap((tokens) => tokens.state() ?? []);
      const tokenEndpoint = states.find(({ outage }) => outage !== undefined) ?? states[0];
      return tokenEndpoint ? { tokenEndpoint } : {};
    },
    async close() {
      await Promise.all([...opened, ...sources.values()].map((one) => one.close()));
      troubles.close();
    },
  };
}

const tokenTimeoutMs = 10_000;

/** @param adapter replaces the network */
export function openTokens(
  settings: TokenSettings<Secret>,
  troubles: Troubles,
  meter?: Meter,
  adapter?: AxiosAdapter,
): TokenSource {
  if (settings.token !== '') return staticToken(settings.token);
  const { tokenUrl, clientId, clientSecret, tokenScope: scope } = settings;
  const common = { timeoutMs: tokenTimeoutMs, troubles, meter, adapter };
  return clientCredentials({ tokenUrl, clientId, clientSecret, scope, ...common });
}

/** A larger answer is not read. */
export const maxAnswerBytes = 5 * 1024 * 1024;

export const backendSettings = ({
  attemptTimeoutSeconds,
  connections,
  circuitFailures = policy.circuitFailures,
  maxAnswerBytes: mostBytes = maxAnswerBytes,
}: CallSettings): BackendSettings => ({
  attemptTimeoutMs: attemptTimeoutSeconds * 1000,
  connections,
  circuitFailures,
  maxAnswerBytes: mostBytes,
});
