import { DownloadError } from './download.ts';

/** Limits the downloads at once; waiting ones start in the order of their calls. */
export interface Semaphore {
  /** @throws DownloadError when the signal aborts before the work starts */
  run<T>(signal: AbortSignal, work: () => Promise<T>): Promise<T>;
}

export function createSemaphore(permits: number): Semaphore {
  const queue: (() => void)[] = [];
  let free = permits;

  async function acquire(signal: AbortSignal): Promise<void> {
    if (free > 0) {
      free -= 1;
      return;
    }
    await new Promise<void>((resolve, reject) => {
      const grant = () => {
        signal.removeEventListener('abort', abort);
        resolve();
      };
      const abort = () => {
        queue.splice(queue.indexOf(grant), 1);
        reject(new DownloadError('it timed out while other downloads were in progress', 'timeout'));
      };
      queue.push(grant);
      signal.addEventListener('abort', abort, { once: true });
    });
  }

  return {
    async run(signal, work) {
      if (signal.aborted) throw new DownloadError('the download timed out', 'timeout');
      await acquire(signal);
      try {
        return await work();
      } finally {
        const next = queue.shift();
        if (next) next();
        else free += 1;
      }
    },
  };
}
