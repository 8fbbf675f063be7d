/** Does something again and again, with a pause after each end. */
export interface Repeating {
  start(): void;
  /** Begins it no more; resolves when it has ended. */
  stop(): Promise<void>;
}

/**
 * @param run never rejects
 * @param pauseMs asked after each end
 */
export function createRepeating(run: () => Promise<void>, pauseMs: () => number): Repeating {
  let timer: NodeJS.Timeout | undefined;
  let isStopped = false;
  let running: Promise<void> = Promise.resolve();

  async function runAndPause() {
    await run();
    if (!isStopped) after(pauseMs());
  }

  function after(ms: number) {
    timer = setTimeout(() => {
      running = runAndPause();
    }, ms);
  }

  return {
    start: () => after(0),
    stop() {
      isStopped = true;
      clearTimeout(timer);
      return running;
    },
  };
}
