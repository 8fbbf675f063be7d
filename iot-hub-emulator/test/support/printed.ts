import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { execFile } from '../../../sandbox/service/endWithUs.ts';

/** What a program prints. It is started as an application is: with the authority in NODE_EXTRA_CA_CERTS. */
export async function printed(
  program: URL,
  args: readonly string[],
  caFile: string,
  variables: Readonly<Record<string, string>> = {},
): Promise<string> {
  const env = { ...process.env, NODE_EXTRA_CA_CERTS: caFile, ...variables };
  return (await promisify(execFile)(process.execPath, ['scripts/run.js', fileURLToPath(program), ...args], { env }))
    .stdout;
}
