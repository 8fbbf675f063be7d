import { parseArgs } from 'node:util';
import { createReport } from 'telemetry/check/report.ts';
import { type Check, runChecks } from 'telemetry/check/runChecks.ts';
import { cureHubSdks } from '../hub/sdkCures.ts';
import { useHubTransport } from '../hub/transport/hubTransport.ts';
import { missingOfPlatform } from '../identity/identity.ts';
import { readCertificate } from '../methods/certificate.ts';
import { useNetwork } from '../network/useNetwork.ts';
import {
  ConfigurationError,
  configDirectory,
  type MethodsSettings,
  readMethodsSettings,
  readSettings,
  type Settings,
} from '../settings/config.ts';
import { secretsOf } from '../settings/secrets.ts';
import { coverSecrets, piecesOf, uncovered } from '../text/secretPieces.ts';
import { checkSettings, type ReadSettings } from './checkSettings.ts';
import { methodsChecks, serviceChecks } from './everyCheck.ts';

const usage = `Usage: check [methods] [options]

Tries all that the service needs, with its own settings: names, certificates,
clock, hub, stores, backends, disk, memory. Takes nothing from a running service
and leaves nothing behind. With \`methods\`: all that the front door needs.

  --json   one JSON document
  --init   for an init container: only settings and credentials fail, an
           outage warns

With the sources, \`npm run check -- --live\` sends messages as a device.

Each line begins with ✓ (well), ! (look at it) or ✗ (it will not work). Exit
code: 0 when all is well, 1 after a ✗, 2 when there is only !; with --init, 0
also then.
`;

type Environment = NodeJS.ProcessEnv;

/** What is to be tried for a program. */
interface Plan {
  readonly read: ReadSettings<Settings | MethodsSettings>;
  readonly checks: readonly Check[];
}

/** @throws ConfigurationError when the platform has not given what the identity needs, or the network’s authorities are unusable */
function withPlatform<S extends Settings | MethodsSettings>(settings: S, env: Environment): S {
  const problems = missingOfPlatform(settings.identity, env);
  if (problems.length > 0) throw new ConfigurationError(problems);
  useNetwork(settings);
  return settings;
}

async function planOfService(env: Environment): Promise<Plan> {
  const read = checkSettings(() => withPlatform(readSettings(env, configDirectory), env), env);
  if (read.settings !== undefined) await useHubTransport(read.settings.hub);
  return { read, checks: read.settings === undefined ? [] : serviceChecks(read.settings) };
}

async function planOfMethods(env: Environment): Promise<Plan> {
  const read = checkSettings(() => {
    const settings = withPlatform(readMethodsSettings(env, configDirectory), env);
    readCertificate(settings.methods);
    return settings;
  }, env);
  return { read, checks: read.settings === undefined ? [] : methodsChecks(read.settings) };
}

function coverOf(secrets: readonly string[]): (text: string) => string {
  const pieces = piecesOf(secrets);
  return (text) => {
    const covered = new Uint8Array(text.length);
    coverSecrets(text, pieces, covered);
    return uncovered(text, covered);
  };
}

const plans = new Map([
  ['service', planOfService],
  ['methods', planOfMethods],
]);

/**
 * Tries a deployment before it is started, or beside it.
 * @param write is given the report, or how to use the command
 * @returns the exit code
 * @throws TypeError at an option that there is not
 */
export async function checkDeployment(
  args: readonly string[],
  env: Environment,
  write: (text: string) => void,
): Promise<number> {
  const options = { json: { type: 'boolean', default: false }, init: { type: 'boolean', default: false } } as const;
  const { values, positionals } = parseArgs({
    args: [...args],
    allowPositionals: true,
    options: { ...options, help: { type: 'boolean', default: false } },
  });
  const [program = 'service', ...more] = positionals;
  const plan = plans.get(program);
  if (values.help || plan === undefined || more.length > 0) {
    write(usage);
    return values.help ? 0 : 1;
  }
  cureHubSdks();
  const { read, checks } = await plan(env);
  const report = createReport({
    isJson: values.json,
    isInit: values.init,
    cover: coverOf(read.settings === undefined ? [] : secretsOf(read.settings)),
    write,
    now: () => performance.now(),
  });
  for (const finding of read.findings) report.add(finding);
  for await (const finding of runChecks(checks)) report.add(finding);
  return report.end();
}
