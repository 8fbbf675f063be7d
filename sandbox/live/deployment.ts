import { once } from 'node:events';
import { createInterface } from 'node:readline/promises';
import { trustHub } from 'iot-hub-emulator/clients';
import { spawn } from '../service/endWithUs.ts';
import { fromCommandLine } from '../state/directories.ts';
import { readRunning } from '../state/state.ts';
import type { Streams } from '../terminal/streams.ts';
import { UsageError } from '../terminal/usage.ts';
import type { Options } from './acceptanceOptions.ts';

/** Something that the owner of a deployment does. */
export interface Act {
  /** For the announcement. */
  readonly how: string;
  do(signal: AbortSignal): Promise<void>;
}

interface Place {
  readonly url: string;
  readonly token: string | undefined;
}

/** What runs somewhere, and what its owner lets a run do there. Strings and tokens are secrets. */
export interface Deployment {
  /** Of the policy that makes the device; absent when the device is there. */
  readonly owner?: string;
  readonly device?: string;
  readonly methods?: Place;
  readonly admin?: Place;
  readonly restart?: Act;
  /** The principal manager fails, and works again. */
  readonly hinder?: Act;
  readonly release?: Act;
}

type Environment = Readonly<Record<string, string | undefined>>;

/** What variables and options name. Rejects with `UsageError`. */
export async function deploymentOf(
  options: Options,
  environment: Environment,
  streams: Pick<Streams, 'stdin' | 'stderr'>,
): Promise<Deployment> {
  if (options.sandbox !== undefined) return inSandbox(options, options.sandbox);
  const { HUB_OWNER_CONNECTION_STRING: owner, DEVICE_CONNECTION_STRING: device } = environment;
  if (owner === undefined && device === undefined)
    throw new UsageError(
      'HUB_OWNER_CONNECTION_STRING must be the connection string of a policy, or DEVICE_CONNECTION_STRING that of a device. With --sandbox .sandbox, a sandbox that runs has all',
    );
  if (device !== undefined && !/(?:^|;)\s*DeviceId=[^;]+/.test(device))
    throw new UsageError('DEVICE_CONNECTION_STRING must be the connection string of a device: HostName=…;DeviceId=…');
  if (device === undefined && !/^(?=.*HostName=[^;]+)(?=.*SharedAccessKeyName=[^;]+)/.test(owner ?? ''))
    throw new UsageError(
      'HUB_OWNER_CONNECTION_STRING must be the connection string of a policy: HostName=…;SharedAccessKeyName=…',
    );
  const place = (name: 'METHODS' | 'ADMIN'): Place | undefined => {
    const url = environment[`${name}_URL`];
    if (url === undefined) return undefined;
    if (!URL.canParse(url)) throw new UsageError(`${name}_URL must be an address: http://… or https://…`);
    return { url: url.replace(/\/$/, ''), token: environment[`${name}_TOKEN`] };
  };
  const act = (command: string | undefined, question: string): Act | undefined =>
    command === undefined ? asked(question, streams) : byCommand(command);
  return defined({
    ...(device === undefined ? { owner } : { device }),
    ...{ methods: place('METHODS'), admin: place('ADMIN') },
    restart: act(options.restart, 'Restart the service'),
    hinder: act(options.hinder, 'Have the principal manager fail'),
    release: act(options.release, 'Have the principal manager work again'),
  });
}

async function inSandbox({ device: deviceId, restart }: Options, directory: string): Promise<Deployment> {
  const { hub, backends, service, methods } = await readRunning(fromCommandLine(directory));
  trustHub(hub);
  const ask = async (method: string, path: string, body?: object): Promise<unknown> => {
    const response = await fetch(backends.adminUrl + path, { method, ...(body && { body: JSON.stringify(body) }) });
    if (!response.ok) throw new Error(`The backends do not take ${method} ${path}: ${await response.text()}`);
    return response.status === 204 ? undefined : response.json();
  };
  await ask('POST', '/devices', { deviceId });
  let fault = '';
  return defined({
    owner: hub.ownerConnectionString,
    methods: methods && { url: methods.url, token: methods.tokens.invoker },
    admin: { url: service.adminUrl, token: undefined },
    restart: restart === undefined ? undefined : byCommand(restart),
    hinder: {
      how: 'by a fault of the sandbox',
      async do() {
        const added = await ask('POST', '/faults', { backend: 'principalManager', status: 501, deviceId });
        fault = (added as { readonly id: string }).id;
      },
    },
    release: {
      how: 'by its end',
      async do() {
        if (fault !== '') await ask('DELETE', `/faults/${fault}`);
      },
    },
  });
}

const byCommand = (command: string): Act => ({
  how: `by the command ${command}`,
  async do(signal) {
    const child = spawn(command, [], { shell: true, detached: true, stdio: ['ignore', 'ignore', 'inherit'] });
    // with all that the shell has started
    const end = () => process.kill(-Number(child.pid), 'SIGTERM');
    signal.addEventListener('abort', end);
    const [code] = await once(child, 'exit').finally(() => signal.removeEventListener('abort', end));
    if (code !== 0) throw new Error(`${command} ended with ${code}`);
  },
});

/** A person at a terminal; undefined without one. */
function asked(question: string, { stdin, stderr }: Pick<Streams, 'stdin' | 'stderr'>): Act | undefined {
  if (!('isTTY' in stdin) || !stdin.isTTY) return undefined;
  return {
    how: 'by you, when you are asked to',
    async do(signal) {
      // After Ctrl-C nobody waits for an answer.
      if (signal.aborted) return void stderr.write(`${question}!\n`);
      const terminal = createInterface({ input: stdin, output: stderr as NodeJS.WritableStream });
      // At a terminal it takes the key: no signal comes.
      terminal.on('SIGINT', () => process.kill(process.pid, 'SIGINT'));
      await terminal.question(`${question}, then press Enter: `, { signal }).finally(() => terminal.close());
    },
  };
}

type Defined<T> = { [K in keyof T]?: Exclude<T[K], undefined> };

const defined = <T extends object>(values: T): Defined<T> =>
  Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined)) as Defined<T>;
