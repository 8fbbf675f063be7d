import { FetchFailed } from './fetchFile.ts';

/** Lets so many work at once; the others wait, first come, first served. */
export interface Turns {
  /** @throws FetchFailed when the turn does not come before the signal */
  take<T>(signal: AbortSignal, work: () => Promise<T>): Promise<T>;
}

export function createTurns(atOnce: number): Turns {
  const queue: (() => void)[] = [];
  let free = atOnce;

  async function enter(signal: AbortSignal): Promise<void> {
    if (free > 0) {
      free -= 1;
      return;
    }
    await new Promise<void>((resolve, reject) => {
      const give = () => {
        signal.removeEventListener('abort', leave);
        resolve();
      };
      const leave = () => {
        queue.splice(queue.indexOf(give), 1);
        reject(new FetchFailed('other downloads took all the time'));
      };
      queue.push(give);
      signal.addEventListener('abort', leave, { once: true });
    });
  }

  return {
    async take(signal, work) {
      if (signal.aborted) throw new FetchFailed('it did not come in time');
      await enter(signal);
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
