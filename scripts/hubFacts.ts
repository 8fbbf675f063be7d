import { ways } from 'iot-hub-emulator';
import { hubFacts } from 'iot-hub-emulator/facts';
import { reliances } from './hubFacts/reliances.ts';

/**
 * `npm run hub-facts`: probes what is believed of a hub, and says which rules and code rely on what differs. `--service` runs the
 * service at hubs that are otherwise instead; words after it are facts, all when there are none.
 */

const ending = new AbortController();
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => ending.abort());

const args = process.argv.slice(2);
const probing = {
  ...{ args, environment: process.env, folder: process.env['INIT_CWD'] ?? process.cwd() },
  ...{ stdout: process.stdout, stderr: process.stderr, signal: ending.signal, reliances },
};
process.exit(args[0] === '--service' ? await runService(args.slice(1)) : await hubFacts(probing));

async function runService(only: readonly string[]): Promise<number> {
  const unknown = only.find((id) => !Object.hasOwn(ways, id));
  if (unknown !== undefined) {
    process.stderr.write(`--service takes ${Object.keys(ways).join(', ')}, not ${unknown}\n`);
    return 3;
  }
  const { serviceAgainstWays } = await import('./hubFacts/service.ts');
  const print = (line: string) => void process.stdout.write(`${line}\n`);
  return (await serviceAgainstWays({ only, print, signal: ending.signal })) === 0 ? 0 : 1;
}
