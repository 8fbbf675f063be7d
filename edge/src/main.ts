import type { Stamps } from '@device-messaging/telemetry/files.ts';
import { logWarnings, switchLevelOnSignal } from '@device-messaging/telemetry/log.ts';
import { proxySecrets } from '@device-messaging/telemetry/proxies.ts';
import { ConfigurationError } from './configuration/checks.ts';
import { readConfiguration } from './configuration/read.ts';
import { proxyIn, useNetwork } from './connections/network.ts';
import { startEdge } from './edge.ts';
import { createLog, identityOf, type LogText, secretsOf, startFields } from './observing/log.ts';
import { help, type Options, readOptions } from './options.ts';

function optionsOrExit(): Options {
  try {
    return readOptions(process.argv.slice(2), process.env);
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? error.message : error}\n\n${help}`);
    process.exit(2);
  }
}

async function configurationOrExit(file: string, stamps: Stamps) {
  try {
    const configuration = await readConfiguration(file, stamps);
    useNetwork(configuration, process.env);
    return configuration;
  } catch (error) {
    if (!(error instanceof ConfigurationError)) throw error;
    process.stderr.write(
      `The edge proxy cannot start with ${file}:\n${error.problems.map((problem) => `  - ${problem}\n`).join('')}`,
    );
    process.exit(1);
  }
}

async function main(): Promise<void> {
  const options = optionsOrExit();
  if (options.isHelp) {
    process.stdout.write(help);
    process.exit(0);
  }
  if (options.check) {
    const { checkEdge } = await import('./check.ts');
    process.exit(await checkEdge(options.config, options.check, (text) => process.stdout.write(text)));
  }
  const stamps: Stamps = new Map();
  const configuration = await configurationOrExit(options.config, stamps);
  if (options.isCheckOnly) {
    process.stdout.write(`${options.config} is valid: ${configuration.modules.map(({ id }) => id).join(', ')}\n`);
    process.exit(0);
  }

  /** Those of the start, and of the newest configuration and the one before: connections may have them still. */
  const proxySecret = proxySecrets(proxyIn(process.env));
  let secrets = [...secretsOf(configuration), ...proxySecret];
  let newest: readonly string[] = [];
  function found(changed: typeof configuration) {
    const [before, after] = [newest, secretsOf(changed)];
    newest = after;
    secrets = [...secretsOf(configuration), ...proxySecret, ...before, ...after];
  }
  const log = createLog(configuration.log.level, undefined, {
    instance: identityOf(configuration),
    secrets: () => secrets,
    isPretty: configuration.log.pretty,
    hasColours: process.stdout.isTTY,
  });
  function exitWith(error: unknown, message: LogText<'fatal'>): never {
    log.fatal({ err: error }, message);
    process.exit(1);
  }
  process.on('uncaughtException', (error) => exitWith(error, 'uncaught exception'));
  process.on('unhandledRejection', (error) => exitWith(error, 'unhandled rejection'));

  switchLevelOnSignal(process, log);
  logWarnings(process, log);
  log.info(startFields(configuration, process.env), 'starting');
  const edge = await startEdge(configuration, log, { path: options.config, stamps, found }).catch((error) =>
    exitWith(error, 'start failed'),
  );
  let isStopping = false;
  const stop = (signal: NodeJS.Signals) => {
    if (isStopping) process.exit(1);
    isStopping = true;
    log.info({ signal }, 'stopping: finishing the invocations in progress; a second signal exits at once');
    edge.stop().then(
      () => process.exit(0),
      (error) => exitWith(error, 'stop failed'),
    );
  };
  process.on('SIGTERM', stop).on('SIGINT', stop);
}

void main();
