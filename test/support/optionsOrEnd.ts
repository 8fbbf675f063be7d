/** What a program is asked for on its command line; or it ends, and says how it is used and, if so, what is wrong. */
export function optionsOrEnd<Options>(
  readOptions: (args: readonly string[]) => Options | undefined,
  usage: string,
): Options {
  try {
    const options = readOptions(process.argv.slice(2));
    if (options) return options;
    process.stdout.write(usage);
    process.exit(0);
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? error.message : error}\n\n${usage}`);
    process.exit(2);
  }
}
