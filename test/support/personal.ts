/** Settings of the programs, what libraries read besides, and what npm tells of where it was called. */
const personal =
  /^(?:ADMIN|AZURE|BACKENDS|CHECKPOINTS|DATA|DEAD_LETTERS|DELIVERY|EDGE_PROXY|HTTPS?|HUB|IDENTITY|INFORMATION_MODEL|LOG|METHODS|NETWORK|NO|OTEL|PRINCIPAL_MANAGER|REPLIES|STORE|TYPE_REGISTRY)_|^(?:BUILD_COMMIT|DEVICE_CONNECTION_STRING|IDENTITY|INIT_CWD|STORE)$|^(?:https?|no|all)_proxy$/i;

/** Takes out of an environment what a person has set for a run of their own: no test is to read it. */
export function removePersonal(environment: NodeJS.ProcessEnv): void {
  for (const name of Object.keys(environment)) if (personal.test(name)) delete environment[name];
}
