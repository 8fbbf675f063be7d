import {
  type PoolOptions,
  type PoolRunnerInitializer,
  type PoolWorker,
  ThreadsPoolWorker,
  type WorkerRequest,
} from 'vitest/node';

/** Runs for which a thread serves: then what they have left behind goes with it. */
const mostRuns = 40;

interface Thread {
  readonly inner: ThreadsPoolWorker;
  runs: number;
}

let kept: Thread | undefined;

type Listener = Parameters<PoolWorker['on']>[1];

/**
 * A worker of the test runner whose thread lives on for the next run: to load what is tested takes ten times as long as
 * most tests. Test files are loaded again for each run, modules only once.
 */
class KeptThread implements PoolWorker {
  readonly name = 'kept';
  readonly #options: PoolOptions;
  readonly #listeners: (readonly [event: string, listener: Listener])[] = [];
  #thread: Thread | undefined;
  #isFresh = false;

  constructor(options: PoolOptions) {
    this.#options = options;
  }

  async start(): Promise<void> {
    this.#isFresh = kept === undefined;
    kept ??= { inner: new ThreadsPoolWorker(this.#options), runs: 0 };
    this.#thread = kept;
    if (this.#isFresh) await kept.inner.start();
  }

  on(event: string, listener: Listener): void {
    this.#listeners.push([event, listener]);
    this.#inner().on(event, listener);
  }

  off(event: string, listener: Listener): void {
    this.#inner().off(event, listener);
  }

  /** The thread is told to start only once, and to stop never. What was said at its start, of the tests to run, is said again. */
  send(message: WorkerRequest): void {
    if (message.type === 'start' && !this.#isFresh) this.#answer('started');
    else if (message.type === 'stop') this.#answer('stopped');
    else {
      const { testNamePattern = /^/ } = this.#options.project.config;
      if (message.type === 'run') for (const file of message.context.files) file.testNamePattern = testNamePattern;
      this.#inner().send(message);
    }
  }

  async stop(): Promise<void> {
    const inner = this.#inner();
    for (const [event, listener] of this.#listeners) inner.off(event, listener);
    if (this.#thread === undefined || kept !== this.#thread) return;
    kept.runs += 1;
    if (kept.runs < mostRuns) return;
    kept = undefined;
    await inner.stop();
  }

  deserialize(data: unknown): unknown {
    return this.#inner().deserialize(data);
  }

  #inner(): ThreadsPoolWorker {
    if (this.#thread === undefined) throw new Error('the thread has not been started');
    return this.#thread.inner;
  }

  #answer(type: 'started' | 'stopped'): void {
    const response = { __vitest_worker_response__: true, type };
    queueMicrotask(() => {
      for (const [event, listener] of this.#listeners) if (event === 'message') listener(response);
    });
  }
}

export const keptThread: PoolRunnerInitializer = {
  name: 'kept',
  createPoolWorker: (options) => new KeptThread(options),
};
