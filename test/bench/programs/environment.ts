/** What every program of the bench is told: the same as the service. */
export interface Environment {
  readonly hubName: string;
  readonly amqpPort: number;
  readonly amqpsPort: number;
  readonly partitions: number;
  readonly eventsConnectionString: string;
  readonly serviceConnectionString: string;
  readonly backendsUrl: string;
}

export const environment = JSON.parse(process.env['BENCH'] ?? '{}') as Environment;

export const keyIn = (connectionString: string): string => /SharedAccessKey=([^;]*)/.exec(connectionString)?.[1] ?? '';

export const policyIn = (connectionString: string): string =>
  /SharedAccessKeyName=([^;]*)/.exec(connectionString)?.[1] ?? '';
