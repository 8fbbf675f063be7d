/**
 * A port that cannot be opened, as a sentence with the option that asked for it; undefined for any other error.
 * @param given ports by option
 */
export function portTaken(error: unknown, given: Readonly<Record<string, number | undefined>>): string | undefined {
  const { code, port } = error as NodeJS.ErrnoException & { port?: number };
  const option = Object.keys(given).find((name) => given[name] === port);
  if (option === undefined) return undefined;
  const elsewhere = 'name another one, or leave the option out for a free one';
  if (code === 'EADDRINUSE') return `--${option}: port ${port} is in use by another program; ${elsewhere}`;
  return code === 'EACCES' ? `--${option}: this user may not open port ${port}; ${elsewhere}` : undefined;
}
