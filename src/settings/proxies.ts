import type { ProxyVariables } from 'telemetry/network/proxies.ts';
import type { Settings } from './table.ts';
import type { UnknownVariable } from './variables.ts';

const hint = 'set HTTPS_PROXY, HTTP_PROXY, NO_PROXY';

/** Variables that other programs take for a proxy and this one does not, without their values, which can have a password. */
export const proxyVariables = (env: NodeJS.ProcessEnv): UnknownVariable[] =>
  ['ALL_PROXY', 'all_proxy'].filter((variable) => env[variable]).map((variable) => ({ variable, hint }));

const conventional = ['HTTPS_PROXY', 'HTTP_PROXY', 'NO_PROXY'] as const;

/** Programs read these variables in lower case, too. */
export const withLowerCase = (env: NodeJS.ProcessEnv): NodeJS.ProcessEnv => ({
  ...env,
  ...Object.fromEntries(conventional.map((name) => [name, env[name] || env[name.toLowerCase()]])),
});

export const proxiesIn = ({ httpsProxy, httpProxy, noProxy }: Settings['network']): ProxyVariables => ({
  ...{ https: httpsProxy, http: httpProxy, except: noProxy },
});
