import {
  ServiceFailed,
  type ServiceProcess,
  type ServiceProcessOptions,
  startService,
} from '../../sandbox/service/process.ts';

export type Restarting = ReturnType<typeof keepRunning>;

/** A service that is started again whenever it ends, as an orchestrator would. */
export function keepRunning(options: ServiceProcessOptions) {
  let isStopping = false;
  let ends = 0;
  let starting: Promise<ServiceProcess>;
  let isReady = () => {};
  const ready = new Promise<void>((resolve) => {
    isReady = resolve;
  });

  async function run() {
    while (!isStopping) {
      starting = startService(options);
      try {
        const { exited } = await starting;
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
    /** How often it has ended by itself. */
    ends: () => ends,
    /** Settles when it is ready for the first time; that may be after some ends. */
    ready,
    /** SIGTERM; answers the exit code. */
    async stop() {
      isStopping = true;
      const last = await starting.catch(() => undefined); // it may have ended before it was ready
      await last?.stop();
      await running;
      return (await last?.exited)?.code ?? null;
    },
  };
}
