/** What a file of variables holds, and what in it cannot be used. */
interface EnvFile {
  readonly variables: Readonly<Record<string, string>>;
  /** One sentence for each, without values: they may be secrets. */
  readonly problems: readonly string[];
}

/**
 * Reads a file of variables as `docker run --env-file` does, so that the same file means the same to both: everything behind the first
 * `=` is the value, quotes, `#` and spaces too. What looks like a comment behind a value is refused.
 */
export function readEnvFile(text: string): EnvFile {
  const variables: Record<string, string> = {};
  const problems: string[] = [];
  for (const [index, whole] of text
    .replace(/^\ufeff/, '')
    .split(/\r?\n/)
    .entries()) {
    const line = whole.trimStart();
    const at = line.indexOf('=');
    if (line.startsWith('#') || at === -1) continue;
    const [name, value] = [line.slice(0, at), line.slice(at + 1)];
    const where = `line ${index + 1}: ${name}`;
    if (name === '' || /\s/.test(name)) problems.push(`${where}: must be NAME=value, without “export” and spaces`);
    else if (/\s#/.test(value))
      problems.push(`${where}: the comment behind its value would be part of it: give it a line of its own`);
    else variables[name] = value;
  }
  return { variables, problems };
}
