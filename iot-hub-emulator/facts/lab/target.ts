/** The hub that is examined. All connection strings hold secrets. */
export interface Target {
  /** Of a policy with every right: `iothubowner`. */
  readonly hub: string;
  /** Of the built-in event endpoint, with the right to listen. */
  readonly events: string;
  /** Which nobody else should read meanwhile. */
  readonly consumerGroup: string;
  /** Of a storage account. */
  readonly storage?: string;
}

export const hostOf = (connectionString: string): string =>
  /(?:^|;)\s*HostName=([^;]+)/i.exec(connectionString)?.[1] ?? '';
