import { writeFileSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { dataDirectory } from '../../sandbox/service/environment.ts';
import { onExit } from '../../sandbox/service/onExit.ts';
import { type ServiceProcess, startService } from '../../sandbox/service/process.ts';
import { createLogReader } from './logLines.ts';

/** A process of the service that is started, stopped and killed, again and again. */
export interface Instance {
  start(): Promise<void>;
  /** SIGTERM. */
  stop(): Promise<void>;
  /** Exit codes after each SIGTERM. */
  readonly codes: readonly (number | null)[];
  /** SIGKILL. */
  kill(): Promise<void>;
  /** SIGSTOP: its machine stands still. */
  freeze(): void;
  /** SIGCONT. */
  thaw(): void;
  /** Somebody sets the clock of its machine: so far ahead of the right time, or behind it when negative. */
  setClock(aheadMs: number): void;
  /** Kills what runs still. */
  end(): Promise<void>;
  /**
   * Runs one piece of work after the other: nobody kills what somebody else is starting.
   * @throws what the work throws, and an error when the run is over before its turn
   */
  alone<T>(work: () => Promise<T>): Promise<T>;
  /** Everything it has logged, whichever process it was; with the right times, also while its clock was wrong. */
  lines(): Promise<Record<string, unknown>[]>;
  /** Its metrics in the text format of Prometheus. */
  metrics(): Promise<string>;
  /** Dead letters in its dead-letter store. */
  letters(): Promise<DeadLetter[]>;
}

/** As much of a dead letter as comes from its message, and why it was parked. */
export interface DeadLetter {
  readonly deviceId: string;
  readonly code: string;
  readonly origin: { readonly hub: string; readonly partition: string };
  /** How often it was parked. */
  readonly attempts: number;
  /** Of the attempt that failed. */
  readonly traceparent: string;
  readonly event: {
    readonly sequenceNumber: number;
    readonly enqueuedTimeUtc: string;
    readonly properties: Readonly<Record<string, string>>;
    readonly body: string;
    /** Else the body is base64. */
    readonly isText: boolean;
  };
}

const settableClock = pathToFileURL(join(import.meta.dirname, 'settableClock.js')).href;

export function createInstance(options: {
  readonly directory: string;
  readonly serviceDirectory: string;
  readonly url: string;
  readonly environment: Readonly<Record<string, string>>;
}): Instance {
  const { directory, serviceDirectory, url, environment } = options;
  const logFile = join(directory, 'service.log');
  const lines = createLogReader(logFile);
  const clockFile = join(directory, 'clock-ahead-ms');
  writeFileSync(clockFile, '0');
  const clock = {
    NODE_OPTIONS: `${environment['NODE_OPTIONS'] ?? ''} --import=${settableClock}`,
    CLOCK_AHEAD_FILE: clockFile,
  };
  let starting: Promise<ServiceProcess> | undefined;
  let running: ServiceProcess | undefined;
  const ending = new AbortController();
  const codes: (number | null)[] = [];
  let working: Promise<unknown> = Promise.resolve();

  const cancel = onExit(() => {
    if (running) process.kill(running.pid, 'SIGKILL');
  });

  function signal(name: NodeJS.Signals): void {
    if (running) process.kill(running.pid, name);
  }

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
        environment: { ...environment, ...clock },
        readyzUrl,
        logFile,
        directory: serviceDirectory,
        readyWithinMs: 300_000, // on a machine that is busy with other things
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
      await stopped?.stop(300_000); // one that hangs is a finding, a slow machine is none
      codes.push((await stopped?.exited)?.code ?? null);
    },
    codes,
    async kill() {
      await running?.kill();
    },
    freeze: () => signal('SIGSTOP'),
    thaw: () => signal('SIGCONT'),
    setClock(aheadMs) {
      writeFileSync(clockFile, String(aheadMs));
      signal('SIGWINCH');
    },
    end,
    alone(work) {
      const turn = working.then(() => {
        ending.signal.throwIfAborted();
        return work();
      });
      working = turn.catch(() => undefined);
      return turn;
    },
    lines,
    async metrics() {
      const answer = await fetch(`${url}/metrics`, { signal: AbortSignal.timeout(30_000) });
      return answer.text();
    },
    async letters() {
      const folder = join(dataDirectory(directory), 'dead-letters');
      const names = await readdir(folder, { recursive: true }).catch(() => []);
      const files = names.filter((name) => name.endsWith('.json'));
      return Promise.all(files.map(async (name) => JSON.parse(await readFile(join(folder, name), 'utf8'))));
    },
  };
}
