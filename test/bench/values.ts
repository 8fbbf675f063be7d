import { type ParseArgsConfig, parseArgs } from 'node:util';

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
