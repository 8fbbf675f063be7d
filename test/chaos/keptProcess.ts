import type { ServiceProcess } from '../../sandbox/service/process.ts';

export interface KeptProcessOptions {
  /** Rejects when the process ends before it is ready. */
  start(signal: AbortSignal): Promise<ServiceProcess>;
  /** How often a message has ended the process so far. */
  fatalEnds(): Promise<number>;
  onFatalEnd(): void;
}

/** A message that ends the process more often is not found at all. */
export const mostFatalEnds = 15;

/** One that hangs is a finding, a slow machine is none. */
const stopMs = 300_000;

/** A process of the service. One that a message has ended is started again, as an orchestrator would. */
export function createKeptProcess({ start, fatalEnds, onFatalEnd }: KeptProcessOptions) {
  const ending = new AbortController();
  let running: ServiceProcess | undefined;
  /** Somebody has started it, and nobody has stopped it since. */
  let isWanted = false;
  let seenEnds = 0;
  /** Nobody waits for a start that follows an end. */
  let failure: unknown;
  /** What goes on at the moment: a start, or what follows an end. */
  let work: Promise<void> = Promise.resolve();

  function go(what: () => Promise<void>): Promise<void> {
    work = what();
    work.catch(() => {}); // told to those who wait for it
    return work;
  }

  async function settled(): Promise<ServiceProcess | undefined> {
    for (let seen: unknown; seen !== work; ) {
      seen = work;
      await work.catch(() => {});
    }
    return running;
  }

  async function hasFatalEnd(): Promise<boolean> {
    const ends = await fatalEnds();
    const isFatal = ends > seenEnds;
    seenEnds = ends;
    if (isFatal) onFatalEnd();
    return isFatal;
  }

  async function untilReady(): Promise<void> {
    try {
      const started = await start(ending.signal);
      running = started;
      void started.exited.then(() => void go(ended));
    } catch (error) {
      if (!(await hasFatalEnd()) || !mayStart()) throw error;
      await untilReady();
    }
  }

  async function ended(): Promise<void> {
    running = undefined;
    const wasWanted = isWanted;
    if (!(await hasFatalEnd()) || !wasWanted || !mayStart()) return;
    await untilReady().catch((error) => {
      if (mayStart()) failure ??= error;
    });
  }

  const mayStart = () => seenEnds < mostFatalEnds && !ending.signal.aborted;

  return {
    /** Resolves when it is ready, which may be after some ends. */
    async start() {
      await settled();
      isWanted = true;
      await go(untilReady);
    },
    /**
     * SIGTERM.
     * @returns the exit code; undefined when a message has ended it meanwhile
     * @throws what kept it from being started again after such an end, other than too many of them
     */
    async stop(): Promise<number | null | undefined> {
      const stopped = await settled();
      const before = seenEnds;
      isWanted = false;
      await stopped?.stop(stopMs);
      await settled();
      if (failure !== undefined) throw failure;
      return seenEnds > before ? undefined : ((await stopped?.exited)?.code ?? null);
    },
    /** SIGKILL, as soon as it is ready. */
    async kill() {
      const killed = await settled();
      isWanted = false;
      await killed?.kill();
      await settled();
    },
    signal(name: NodeJS.Signals) {
      if (running) process.kill(running.pid, name);
    },
    isUp: () => running !== undefined,
    /** Kills what runs still, and starts nothing more. */
    async end() {
      ending.abort(new Error('the run is over'));
      await (await settled())?.kill();
    },
  };
}
