import { readFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';

/** Waiting that has no limit but the silence of what is waited for. */
export interface Patience {
  /** Aborts when nothing new has come for a long time. */
  readonly signal: AbortSignal;
  end(): void;
}

const [betweenLooksMs, looksInVain] = [100, 600];

/** @param news counts or lists what has come; anything but the same as before counts as new */
export function createPatience(news: () => Promise<string>): Patience {
  const giveUp = new AbortController();
  const ending = new AbortController();

  async function watch() {
    let [seen, inVain] = [await news(), 0];
    while (inVain < looksInVain) {
      await sleep(betweenLooksMs, undefined, { signal: ending.signal });
      const now = await news();
      inVain = now === seen ? inVain + 1 : 0;
      seen = now;
    }
    giveUp.abort(new Error('The service hangs: it has not said or done anything new for a long time'));
  }
  watch().catch((error) => {
    if (!ending.signal.aborted) giveUp.abort(error);
  });
  return { signal: giveUp.signal, end: () => ending.abort() };
}

/** The kinds of lines in a log: one that comes again and again says nothing new. */
export async function kindsOfLines(logFile: string): Promise<string> {
  const text = await readFile(logFile, 'utf8').catch(() => '');
  return [...new Set(text.split('\n').map((line) => /"msg":"([^"]*)"/.exec(line)?.[1] ?? line))].sort().join('\n');
}
