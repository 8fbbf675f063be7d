import type { UnknownVariable } from './variables.ts';

const hint = 'hub and backends are reached without a proxy; only a storage account is reached through it';

/** The variables that other programs take for a proxy, without their values, which can have a password. */
export const proxyVariables = (env: NodeJS.ProcessEnv): UnknownVariable[] =>
  Object.entries(env)
    .filter(([variable, value]) => /^(https?|all)_proxy$/i.test(variable) && value !== '')
    .map(([variable]) => ({ variable, hint }));
