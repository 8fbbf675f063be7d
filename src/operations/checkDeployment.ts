import { parseArgs } from 'node:util';
import { createReport, doubt, type Finding, fault, runChecks } from '@device-messaging/telemetry/check.ts';
import { preparePlatform } from '../access/network.ts';
import { readCertificate } from '../access/secretFiles.ts';
import { useHubTransport } from '../hub/hubTransport.ts';
import { cureHubSdks } from '../hub/sdkCures.ts';
import { createCover } from '../observing/redaction.ts';
import {
  ConfigurationError,
  configDirectory,
  fileEffect,
  readMethodsSettings,
  readSettings,
  strayVariables,
} from '../settings/config.ts';
import { secretsOf } from '../settings/secrets.ts';
import { type AnySettings, openersOf, type Probe } from './openers.ts';
import { methodsProbes, serviceProbes } from './probes.ts';

const usage = `Usage: check [methods] [options]

Tries all that the service needs, with its own settings: names, certificates,
clock, hub, stores, backends, disk, memory. Takes nothing from a running
service. Makes missing folders and containers, as the service does; deletes what
it tries there, if it may. With methods: all that the front door needs.

  --json   one JSON document
  --init   for an init container: only settings and credentials fail, an
           outage warns

With the sources, npm run acceptance sends messages as a device.

Each line begins with ✓ (well), ! (look at it) or ✗ (it will not work). Exit
code: 0 when all is well, 1 after a ✗, 2 when there is only !; with --init, 0
also then.
`;

const readers = new Map<string, (env: NodeJS.ProcessEnv, directory: string) => AnySettings>([
  ['service', readSettings],
  ['methods', readMethodsSettings],
]);

/** @param write is given the report, or how to use the command @returns the exit code @throws TypeError at an option that there is not */
export async function checkDeployment(args: readonly string[], env: NodeJS.ProcessEnv, write: (text: string) => void) {
  const option = { type: 'boolean', default: false } as const;
  const { values, positionals } = parseArgs({
    ...{ args: [...args], allowPositionals: true },
    options: { json: option, init: option, help: option },
  });
  const [program = 'service', ...more] = positionals;
  const read = readers.get(program);
  if (values.help || read === undefined || more.length > 0) {
    write(usage);
    return values.help ? 0 : 1;
  }
  cureHubSdks();
  const { settings, findings } = checkSettings(() => {
    const settings = read(env, configDirectory);
    preparePlatform(settings, env);
    if ('methods' in settings) readCertificate(settings.methods);
    return settings;
  }, env);
  if (settings && 'transport' in settings.hub) await useHubTransport(settings.hub);
  const cover = createCover(settings ? secretsOf(settings) : []);
  const report = createReport({ isJson: values.json, isInit: values.init, write, cover: (text) => cover(text) });
  for (const finding of findings) report.add(finding);
  for await (const finding of runChecks(settings ? checksFor(settings) : [])) report.add(finding);
  return report.end();
}

/** All that is wrong with the settings. @returns settings: undefined when they are wrong, so that nothing else can be looked at */
export function checkSettings<S extends object>(
  read: () => S,
  env: NodeJS.ProcessEnv,
): { readonly settings: S | undefined; readonly findings: readonly Finding[] } {
  const what = 'settings';
  const doubts = strayVariables(env).map(({ variable, hint }) => {
    return { what: 'variables', ...doubt(`${variable} is no setting`, hint) };
  });
  try {
    const settings = read();
    const file = fileEffect(env, configDirectory, settings);
    const source = file === undefined ? 'from the environment' : `from the environment and ${file.path}`;
    return { settings, findings: [{ what, mark: 'ok', found: `all valid, ${source}` }, ...doubts] };
  } catch (error) {
    if (!(error instanceof ConfigurationError)) throw error;
    const list = 'docs/settings.md and .env.example list every setting';
    const problems = error.problems.map((problem) => ({ what, ...fault(problem, list) }));
    return { settings: undefined, findings: [...problems, ...doubts] };
  }
}

const checksFor = (settings: AnySettings) =>
  'methods' in settings ? checksOf(methodsProbes, settings) : checksOf(serviceProbes, settings);

function checksOf<S extends AnySettings>(probes: readonly Probe<S>[], settings: S) {
  const open = openersOf(settings);
  const applying = probes.filter(({ applies }) => applies?.(settings) ?? true);
  return applying.map((probe) => ({ what: probe.name, look: () => probe.attempt(open, settings) }));
}
