/** What the connection string of a hub says. */
export interface HubLogin {
  readonly host: string;
  readonly port: number;
  readonly policy: string;
  readonly key: string;
}

/** The usual one of hubs and their event endpoints. */
export const amqpsPort = 5671;

/** @param connectionString that the settings have accepted */
export function hubLoginOf(connectionString: string): HubLogin {
  const part = (name: string) => new RegExp(`(?:^|;)\\s*${name}=([^;]+)`).exec(connectionString)?.[1]?.trim() ?? '';
  const hostName = part('HostName');
  const [, host = hostName, port] = /^(.*?)(?::(\d+))?$/.exec(hostName) ?? [];
  return { host, port: Number(port ?? amqpsPort), policy: part('SharedAccessKeyName'), key: part('SharedAccessKey') };
}

/** The hub by its name alone, without the rest of its host name. */
export const hubNameOf = ({ host }: Pick<HubLogin, 'host'>): string => host.split('.', 1)[0] ?? host;
