import { type Check, createReport, type Finding, failure, ok, runChecks } from '@device-messaging/telemetry/check.ts';
import { proxySecrets } from '@device-messaging/telemetry/proxies.ts';
import { createScrub } from '@device-messaging/telemetry/secrets.ts';
import { type Configuration, ConfigurationError, readConfiguration } from '../configuration/read.ts';
import { proxyIn, useNetwork } from '../connections/network.ts';
import { secretsOf } from '../operations/startLine.ts';
import { checkBroker } from './checkBroker.ts';
import { checkFolders } from './checkFolders.ts';
import { checkHub } from './checkHub.ts';

/**
 * Tries all that the proxy needs, beside one that runs too (D375).
 * @param write is given the report
 * @returns the exit code
 */
export async function checkEdge(
  file: string,
  options: { readonly isJson: boolean; readonly isInit: boolean },
  write: (text: string) => void,
): Promise<number> {
  const { configuration, findings } = await read(file);
  const report = createReport({
    ...options,
    cover: configuration
      ? createScrub([...secretsOf(configuration), ...proxySecrets(proxyIn(process.env))])
      : (text) => text,
    write,
    now: () => performance.now(),
  });
  for (const finding of findings) report.add(finding);
  const checks: Check[] = configuration
    ? [
        { what: 'hub', look: () => checkHub(configuration.hub) },
        { what: 'broker', look: () => checkBroker(configuration) },
        { what: 'folders', look: async () => checkFolders(configuration.modules) },
      ]
    : [];
  for await (const finding of runChecks(checks)) report.add(finding);
  return report.end();
}

async function read(
  file: string,
): Promise<{ readonly configuration?: Configuration; readonly findings: readonly Finding[] }> {
  const what = 'configuration';
  try {
    const configuration = await readConfiguration(file);
    useNetwork(configuration, process.env);
    return { configuration, findings: [ok(what, `${file} is valid, with ${configuration.modules.length} modules`)] };
  } catch (error) {
    if (!(error instanceof ConfigurationError)) throw error;
    return { findings: error.problems.map((problem) => failure(what, problem, `correct ${file}`)) };
  }
}
