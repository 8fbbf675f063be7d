import {
  ServiceFailed,
  type ServiceProcess,
  type ServiceProcessOptions,
  startService,
} from '../../sandbox/service/process.ts';

/** A service that is started again whenever it ends, as an orchestrator would. */
export interface Restarting {
  /** How often it has ended by itself. */
  ends(): number;
  /** Milliseconds that its starts have taken until it was ready, the first one included. */
  startingMs(): number;
  /** Settles when it is ready for the first time; that may be after some ends. */
  readonly ready: Promise<void>;
  /** SIGKILL, as soon as it is ready; then it is started again. */
  kill(): Promise<void>;
  /** SIGTERM; answers the exit code. */
  stop(): Promise<number | null>;
}

export function keepRunning(options: ServiceProcessOptions): Restarting {
  let isStopping = false;
  let ends = 0;
  let startingMs = 0;
  let starting: Promise<ServiceProcess>;
  let isReady = () => {};
  const ready = new Promise<void>((resolve) => {
    isReady = resolve;
  });

  async function run() {
    while (!isStopping) {
      starting = startService(options);
      try {
        const { exited, readyAfterMs } = await starting;
        startingMs += readyAfterMs;
        isReady();
        await exited;
      } catch (error) {
        if (!(error instanceof ServiceFailed)) throw error;
      }
      if (!isStopping) ends += 1;
    }
  }
  const running = run();

  return {
    ends: () => ends,
    startingMs: () => startingMs,
    ready,
    async kill() {
      await (await starting).kill();
    },
    async stop() {
      isStopping = true;
      const last = await starting.catch(() => undefined); // it may have ended before it was ready
      await last?.stop();
      await running;
      return (await last?.exited)?.code ?? null;
    },
  };
}
