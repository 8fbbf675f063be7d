/** The command line is wrong; the message says where and how. */
export class UsageError extends Error {
  override name = 'UsageError';
}

/**
 * What a command prints for an error: its message and, when the command line is wrong, how to see the options.
 * @param command as after `npm run`
 */
export function explain(error: unknown, command: string): string {
  if (!(error instanceof Error)) return String(error);
  const isUsage = error.name === 'UsageError' || ('code' in error && /^ERR_PARSE_ARGS_/.test(String(error.code)));
  return isUsage ? `${error.message}\nAll options: npm run ${command} -- --help` : error.message;
}

/** Splits the value of an option of the form `NAME=VALUE`. */
export function splitPair(option: string, form: string, pair: string): [string, string] {
  const at = pair.indexOf('=');
  if (at < 1) throw new UsageError(`${option} takes ${form}, not ${JSON.stringify(pair)}`);
  return [pair.slice(0, at), pair.slice(at + 1)];
}
