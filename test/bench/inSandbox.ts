import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type ParseArgsConfig, parseArgs } from 'node:util';
import { type Sandbox, startSandbox } from '../../sandbox/sandbox.ts';
import { buildService } from '../../sandbox/service/build.ts';

/** Does this in a sandbox of its own, with the service built and not started, and with the folder of the sandbox. */
export async function inSandbox<T>(work: (sandbox: Sandbox, directory: string) => Promise<T>): Promise<T> {
  await buildService();
  const directory = await mkdtemp(join(tmpdir(), 'bench-'));
  const sandbox = await startSandbox({ directory, service: false });
  try {
    return await work(sandbox, directory);
  } finally {
    await sandbox.close();
    await rm(directory, { recursive: true, force: true });
  }
}

/**
 * The options of a program, each with a value, which is the default where none is given. With --help the program says how it
 * is used, and ends.
 */
export function valuesOrHelp<Name extends string>(
  defaults: Readonly<Record<Name, string>>,
  usage: string,
): Readonly<Record<Name, string>> {
  const options: NonNullable<ParseArgsConfig['options']> = { help: { type: 'boolean' } };
  for (const [name, value] of Object.entries<string>(defaults)) options[name] = { type: 'string', default: value };
  const { values } = parseArgs({ options });
  if (values['help'] !== true) return values as Record<Name, string>;
  process.stdout.write(`${usage}\n`);
  process.exit();
}
