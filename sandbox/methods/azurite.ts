import { createRequire } from 'node:module';
import { createInterface } from 'node:readline';
import { spawn } from '../service/endWithUs.ts';

/** A storage account on this machine, in memory. */
export interface Azurite {
  readonly port: number;
  /** URL of its blob service. */
  readonly url: string;
  readonly connectionString: string;
  close(): Promise<void>;
}

export const accountName = 'devstoreaccount1';
/** Azurite's own, the same everywhere, of every account. */
export const accountKey = 'Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw==';

export const connectionStringTo = (port: number, account = accountName, key = accountKey): string =>
  `DefaultEndpointsProtocol=http;AccountName=${account};AccountKey=${key};BlobEndpoint=http://127.0.0.1:${port}/${account};`;

const require = createRequire(import.meta.url);
const program = require.resolve('azurite/dist/src/blob/main.js');
const usual = ['--inMemoryPersistence', '--extentMemoryLimit', '64', '--skipApiVersionCheck', '--disableTelemetry'];

export interface AzuriteOptions {
  /** Called with the method of each request; without it, azurite logs none. */
  readonly onRequest?: (method: string) => void;
  /** PEM files: with them it has TLS, and takes tokens of identities, of which it checks issuer, audience and time. */
  readonly certificate?: { readonly cert: string; readonly key: string };
  /** Names of accounts in the place of its own. */
  readonly accounts?: readonly string[];
  /** It passes over what it does not support, as older clients need it. */
  readonly loose?: boolean;
  /** Of its environment, besides those of this process. */
  readonly variables?: Readonly<Record<string, string>>;
}

/** Starts azurite on a free port. */
export async function startAzurite(options: AzuriteOptions = {}): Promise<Azurite> {
  const { onRequest, certificate, accounts, variables, loose = false } = options;
  const modes = [...(onRequest ? [] : ['--silent']), ...(loose ? ['--loose'] : [])];
  const identity = certificate ? ['--oauth', 'basic', '--cert', certificate.cert, '--key', certificate.key] : [];
  const others = accounts && { AZURITE_ACCOUNTS: accounts.map((name) => `${name}:${accountKey}`).join(';') };
  const server = spawn(process.execPath, [program, '--blobPort', '0', ...modes, ...usual, ...identity], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { ...process.env, ...others, ...variables },
  });
  // It may end before us: Ctrl-C at a terminal goes to both.
  const exit = new Promise<void>((resolve) => server.once('exit', () => resolve()));
  for await (const line of createInterface(server.stdout)) {
    const port = Number(/successfully listens on https?:\/\/127\.0\.0\.1:(\d+)/.exec(line)?.[1]);
    if (port > 0) {
      if (onRequest) {
        createInterface(server.stdout).on('line', (line) => {
          const [, method] = /"([A-Z]+) \//.exec(line) ?? [];
          if (method !== undefined) onRequest(method);
        });
      } else server.stdout.resume();
      return {
        port,
        url: `${certificate ? 'https' : 'http'}://127.0.0.1:${port}/${accountName}`,
        connectionString: connectionStringTo(port),
        async close() {
          server.kill('SIGKILL');
          await exit;
        },
      };
    }
  }
  throw new Error('azurite ended before it listened');
}
