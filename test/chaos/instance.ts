import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { dataDirectory } from '../../sandbox/service/environment.ts';
import { onExit } from '../../sandbox/service/onExit.ts';
import { type ServiceProcess, startService } from '../../sandbox/service/process.ts';

/** A process of the service that is started, stopped and killed, again and again. */
export interface Instance {
  start(): Promise<void>;
  /** SIGTERM. */
  stop(): Promise<void>;
  /** Exit codes after each SIGTERM. */
  readonly codes: readonly (number | null)[];
  /** SIGKILL. */
  kill(): Promise<void>;
  /** Kills what runs still. */
  end(): Promise<void>;
  /** Runs one piece of work after the other: nobody kills what somebody else is starting. */
  alone(work: () => Promise<void>): Promise<void>;
  /** Everything it has logged, whichever process it was. */
  lines(): Promise<Record<string, unknown>[]>;
  /** Dead letters in its dead-letter store. */
  letters(): Promise<DeadLetter[]>;
}

/** As much of a dead letter as tells which message it is. */
export interface DeadLetter {
  readonly event: { readonly properties: Readonly<Record<string, string>> };
}

export function createInstance(options: {
  readonly directory: string;
  readonly serviceDirectory: string;
  readonly url: string;
  readonly environment: Readonly<Record<string, string>>;
}): Instance {
  const { directory, serviceDirectory, url, environment } = options;
  const logFile = join(directory, 'service.log');
  let starting: Promise<ServiceProcess> | undefined;
  let running: ServiceProcess | undefined;
  const ending = new AbortController();
  const codes: (number | null)[] = [];
  let working: Promise<void> = Promise.resolve();

  const cancel = onExit(() => {
    if (running) process.kill(running.pid, 'SIGKILL');
  });

  async function end(): Promise<void> {
    ending.abort(new Error('the run is over'));
    await starting?.catch(() => undefined); // it was given up
    await running?.kill();
    cancel();
  }

  return {
    async start() {
      const { signal } = ending;
      const readyzUrl = `${url}/readyz`;
      starting = startService({
        environment,
        readyzUrl,
        logFile,
        directory: serviceDirectory,
        readyWithinMs: 45_000,
        signal,
      });
      const started = await starting;
      running = started;
      void started.exited.then(() => {
        if (running === started) running = undefined;
      });
    },
    async stop() {
      const stopped = running;
      await stopped?.stop();
      codes.push((await stopped?.exited)?.code ?? null);
    },
    codes,
    async kill() {
      await running?.kill();
    },
    end,
    alone(work) {
      working = working.then(() => (ending.signal.aborted ? undefined : work()));
      return working;
    },
    async lines() {
      const text = await readFile(logFile, 'utf8').catch(() => '');
      return text.split('\n').flatMap((line) => parsed(line));
    },
    async letters() {
      const folder = join(dataDirectory(directory), 'dead-letters');
      const names = await readdir(folder, { recursive: true }).catch(() => []);
      const files = names.filter((name) => name.endsWith('.json'));
      return Promise.all(files.map(async (name) => JSON.parse(await readFile(join(folder, name), 'utf8'))));
    },
  };
}

/** A line that a kill has cut in two is no line. */
function parsed(line: string): Record<string, unknown>[] {
  try {
    return [JSON.parse(line)];
  } catch {
    return [];
  }
}
