import { ForksPoolWorker, type PoolOptions, type PoolWorker, type WorkerRequest } from 'vitest/node';

type Listener = (message: unknown) => void;

/** The process in which the test runner runs one attempt after the other. Most of an attempt would be the start of a process. */
export interface KeptProcess {
  /** For the settings of the test runner, which makes a worker for each run. */
  readonly pool: { readonly name: string; createPoolWorker(options: PoolOptions): PoolWorker };
  /** The next run gets a new process. */
  renew(): Promise<void>;
}

/** Modules of the project are loaded anew for each run; packages stay, and so does what was changed in them. */
export function createKeptProcess(): KeptProcess {
  let kept: ForksPoolWorker | undefined;

  function createPoolWorker(options: PoolOptions): PoolWorker {
    const listeners: (readonly [event: string, listener: Listener])[] = [];
    let process: ForksPoolWorker | undefined;
    let isNew = false;

    function answer(type: 'started' | 'stopped'): void {
      const response = { __vitest_worker_response__: true, type };
      for (const [event, listener] of [...listeners]) if (event === 'message') listener(response);
    }

    return {
      name: 'kept',
      cacheFs: true,
      on(event, listener) {
        listeners.push([event, listener]);
        process?.on(event, listener);
      },
      off(event, listener) {
        process?.off(event, listener);
        const at = listeners.findIndex(([name, one]) => name === event && one === listener);
        if (at >= 0) listeners.splice(at, 1);
      },
      deserialize: (data) => data,
      async start() {
        isNew = kept === undefined;
        if (kept === undefined) {
          const started = new ForksPoolWorker(options);
          await started.start();
          started.on('exit', () => {
            if (kept === started) kept = undefined;
          });
          kept = started;
        }
        process = kept;
      },
      send(message: WorkerRequest) {
        if (message.type === 'stop') return answer('stopped');
        if (message.type === 'start' && !isNew) return answer('started');
        // It was told the settings at its start, and limits of time are others in each run.
        if (message.type === 'run') Object.assign(message.context, { config: options.project.serializedConfig });
        process?.send(message);
      },
      async stop() {
        if (process === kept) for (const [event, listener] of listeners) process?.off(event, listener);
        listeners.length = 0;
      },
    };
  }

  return {
    pool: { name: 'kept', createPoolWorker },
    async renew() {
      const ending = kept;
      kept = undefined;
      await ending?.stop();
    },
  };
}
