/** A part of a connection string, as `HostName`; undefined when it is missing. */
export const partOf = (connectionString: string, name: string): string | undefined =>
  new RegExp(`(?:^|;)\\s*${name}\\s*=\\s*([^;]*)`).exec(connectionString)?.[1]?.trim();
