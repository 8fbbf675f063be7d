import type { Log } from '../log.ts';
import { inWords } from './inWords.ts';

/** One connection from its opening to its end. */
export interface Life {
  /** Resolves with the reason, in words, when it has ended, and not before. */
  readonly ended: Promise<string>;
  /** Ends it. */
  close(): Promise<void>;
}

/** A connection that is made anew whenever it ends (M13). */
export interface Lives<L extends Life> {
  /** The one that is open. */
  current(): L | undefined;
  /** What is waited for, in words; undefined while one is open. */
  waitingFor(): string | undefined;
  /** Ends the open one, so that another is made. */
  renew(): void;
  close(): Promise<void>;
}

export interface Pauses {
  readonly firstMs: number;
  readonly longestMs: number;
  /** A connection that lived so long has not failed at once. */
  readonly longLifeMs: number;
}

interface LivesOptions<L extends Life> {
  /** What is connected to: `the hub`. */
  readonly name: string;
  /** Rejects when it cannot be opened. */
  readonly open: (signal: AbortSignal) => Promise<L>;
  readonly log: Log;
  readonly pauses: Pauses;
  /** Said when connections are made, but end soon, again and again. */
  readonly whenShort: string;
}

const shortOnes = 3;

export function createLives<L extends Life>({ name, open, log, pauses, whenShort }: LivesOptions<L>): Lives<L> {
  const closing = new AbortController();
  const { signal } = closing;
  let current: L | undefined;
  let reason: string | undefined;
  /** Attempts in a row that failed, or were over soon. */
  let failures = 0;
  let short = 0;
  let renew = () => {};

  function trouble(why: string) {
    // Once for each reason; a reason that stays is no news.
    if (why !== reason) log.warn({ reason: why }, `waiting for ${name}`);
    reason = why;
  }

  /** Opens a connection and stays until it ends; false when it was wanted so. */
  async function live(): Promise<boolean> {
    const life = await open(signal);
    const began = performance.now();
    const renewal = new AbortController();
    const wanted = AbortSignal.any([signal, renewal.signal]);
    if (!wanted.aborted) {
      current = life;
      renew = () => renewal.abort();
      reason = undefined;
      log.info(`connected to ${name}`);
    }
    const why = await unlessAborted(life.ended, wanted);
    current = undefined;
    await life.close();
    if (why === undefined) return false;
    const isLong = performance.now() - began >= pauses.longLifeMs;
    failures = isLong ? 0 : failures;
    short = isLong ? 0 : short + 1;
    if (short === shortOnes) log.error({ reason: why }, whenShort);
    trouble(why);
    return true;
  }

  async function run() {
    while (!signal.aborted) {
      const hasFailed = await live().catch((error: unknown) => {
        if (!signal.aborted) trouble(inWords(error));
        return true;
      });
      if (!hasFailed || signal.aborted) continue;
      failures += 1;
      await pause(Math.min(pauses.longestMs, pauses.firstMs * 2 ** Math.min(failures - 1, 20)), signal);
    }
  }
  const running = run();

  return {
    current: () => current,
    waitingFor: () => (current ? undefined : `${name}${reason === undefined ? '' : `: ${reason}`}`),
    renew: () => renew(),
    async close() {
      closing.abort();
      await running;
    },
  };
}

/** What the work resolves with; undefined when the signal comes first. Nothing of the signal is kept afterwards. */
export function unlessAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T | undefined> {
  return new Promise((resolve, reject) => {
    const stop = () => resolve(undefined);
    const end = () => signal.removeEventListener('abort', stop);
    signal.addEventListener('abort', stop, { once: true });
    work.then(resolve, reject).finally(end);
    if (signal.aborted) stop();
  });
}

/** Half of the time at least, all of it at most: many proxies must not come back at once. */
function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const end = () => {
      clearTimeout(timer);
      signal.removeEventListener('abort', end);
      resolve();
    };
    const timer = setTimeout(end, ms * (0.5 + Math.random() / 2));
    signal.addEventListener('abort', end, { once: true });
    if (signal.aborted) end();
  });
}
