import type { AxiosAdapter } from 'axios';
import type { Troubles } from '../log/troubles.ts';
import type { BackendSettings } from './http.ts';
import { clientCredentials, staticToken, type TokenSource } from './token.ts';

/** How the service authenticates to the backends. */
interface TokenSettings {
  /** Fixed bearer token; empty when the token endpoint is used. */
  readonly token: string;
  readonly tokenUrl: string;
  readonly clientId: string;
  readonly clientSecret: string;
  readonly tokenScope: string;
}

const tokenTimeoutMs = 10_000;

/** @param adapter replaces the network */
export function tokenSource(settings: TokenSettings, troubles: Troubles, adapter?: AxiosAdapter): TokenSource {
  if (settings.token !== '') return staticToken(settings.token);
  const { tokenUrl, clientId, clientSecret, tokenScope: scope } = settings;
  return clientCredentials({ tokenUrl, clientId, clientSecret, scope, timeoutMs: tokenTimeoutMs, troubles, adapter });
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

export const backendSettings = ({
  attemptTimeoutSeconds,
  connections,
  circuitFailures = 5,
  maxAnswerBytes = 5 * 1024 * 1024,
}: CallSettings): BackendSettings => ({
  attemptTimeoutMs: attemptTimeoutSeconds * 1000,
  connections,
  circuitFailures,
  maxAnswerBytes,
  backOffMs: 100,
  maxBackOffMs: 10_000,
  probeMs: 1000,
  maxProbeMs: 15_000,
});

const nobody = '00000000-0000-0000-0000-000000000000';

/** For each backend, the path of a GET that changes nothing and is quick, whatever its response. */
export const probes = {
  informationModel: `/objects/${nobody}/models/svc.device`,
  typeRegistry: '/modelDefinitions/svc.device/types/none',
  principalManager: '/devices?device=none',
};
