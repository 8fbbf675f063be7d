/**
 * Ends a program that was given arguments: it takes none.
 * @param name for messages: `The service`
 * @param usage what `--help` prints
 */
export function takeNoArguments(name: string, usage: string): void {
  const [argument] = process.argv.slice(2);
  if (argument === undefined) return;
  if (argument === '--help') {
    process.stdout.write(usage);
    process.exit(0);
  }
  process.stderr.write(
    `${name} takes no argument but --help, not ${JSON.stringify(argument)}: its settings come from the environment (docs/settings.md).\n`,
  );
  process.exit(1);
}
