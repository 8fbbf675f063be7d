import type { Log, LogText } from '../observing/log.ts';
import type { Meter } from '../observing/metrics.ts';
import { errorMessage } from './network.ts';

export interface Connection {
  /** Resolves with the reason when the connection is closed; never rejects. */
  readonly closed: Promise<string>;
  close(): Promise<void>;
}

/** A connection that is opened again when it is closed or cannot be opened (M13). */
export interface Reconnecting<C extends Connection> {
  /** Undefined while there is no open connection. */
  current(): C | undefined;
  /** Name of the peer and the last error; undefined while connected. */
  waitingFor(): string | undefined;
  /** Replaces the connection that is open, or being opened, by a new one. */
  renew(): void;
  close(): Promise<void>;
}

/** Pauses between attempts double from `initialMs` to `maxMs`. */
export interface Backoff {
  readonly initialMs: number;
  readonly maxMs: number;
  /** A connection that was open for this time resets the pauses. */
  readonly stableAfterMs: number;
}

interface ReconnectingOptions<C extends Connection> {
  /** `the hub` or `the broker`, for the log. */
  readonly name: 'the hub' | 'the broker';
  /** Rejects when the connection cannot be opened. */
  readonly open: (signal: AbortSignal) => Promise<C>;
  readonly log: Log;
  readonly backoff: Backoff;
  /** Logged as an error when several connections in a row are closed soon after they open. */
  readonly unstableMessage: LogText<'error'>;
  readonly meter: Meter;
}

const unstableAfter = 3;
const remindEveryMs = 60_000;

export function createReconnecting<C extends Connection>(options: ReconnectingOptions<C>): Reconnecting<C> {
  const { name, open, log, backoff, unstableMessage, meter } = options;
  const countAttempt = meter.counter('device_messaging.edge.connections');
  const peer = name === 'the hub' ? 'hub' : 'broker';
  const closing = new AbortController();
  const { signal } = closing;
  let current: C | undefined;
  let lastReason: string | undefined;
  /** Attempts in a row that failed or did not last. */
  let failures = 0;
  let unstable = 0;
  let renew = () => {};
  let reminder: NodeJS.Timeout | undefined;

  /** One line for each reason, not for each attempt, and one each minute. */
  function report(reason: string) {
    if (reason !== lastReason) log.warn({ reason }, `waiting for ${name}`);
    lastReason = reason;
    reminder ??= remindSince(performance.now());
  }

  function remindSince(since: number): NodeJS.Timeout {
    const remind = () => {
      const forSeconds = Math.round((performance.now() - since) / 1000);
      log.warn({ reason: lastReason, attempts: failures, forSeconds }, `waiting for ${name}`);
    };
    return setInterval(remind, remindEveryMs).unref();
  }

  function stopReminding() {
    clearInterval(reminder);
    reminder = undefined;
  }

  /** Resolves when the connection is closed; false when this side closed it. */
  async function connectOnce(): Promise<boolean> {
    const renewal = new AbortController();
    renew = () => renewal.abort(); // also while it opens: it may do so with what has changed since
    const ended = AbortSignal.any([signal, renewal.signal]);
    const connection = await open(ended).catch((error: unknown) => {
      if (!signal.aborted) countAttempt(peer, 'failed');
      throw error;
    });
    const openedAt = performance.now();
    if (!ended.aborted) {
      current = connection;
      lastReason = undefined;
      stopReminding();
      countAttempt(peer, 'opened');
      log.info({}, `connected to ${name}`);
    }
    const reason = await unlessAborted(connection.closed, ended);
    current = undefined;
    await connection.close();
    if (reason === undefined) return false;
    const isStable = performance.now() - openedAt >= backoff.stableAfterMs;
    failures = isStable ? 0 : failures;
    unstable = isStable ? 0 : unstable + 1;
    if (unstable === unstableAfter) log.error({ reason }, unstableMessage);
    report(reason);
    return true;
  }

  async function run() {
    while (!signal.aborted) {
      const hasFailed = await connectOnce().catch((error: unknown) => {
        if (!signal.aborted) report(errorMessage(error));
        return true;
      });
      if (!hasFailed || signal.aborted) continue;
      failures += 1;
      await pause(Math.min(backoff.maxMs, backoff.initialMs * 2 ** Math.min(failures - 1, 20)), signal);
    }
  }
  const running = run();

  return {
    current: () => current,
    waitingFor: () => (current ? undefined : `${name}${lastReason === undefined ? '' : `: ${lastReason}`}`),
    renew: () => renew(),
    async close() {
      closing.abort();
      await running;
      stopReminding();
    },
  };
}

/** Resolves with undefined when the signal comes first. Leaves no listener on the signal. */
export function unlessAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T | undefined> {
  return new Promise((resolve, reject) => {
    const abort = () => resolve(undefined);
    signal.addEventListener('abort', abort, { once: true });
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', abort));
    if (signal.aborted) abort();
  });
}

/** @throws Error when the work is not done in time */
export async function within<T>(work: Promise<T>, ms: number): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`no response within ${ms / 1000} s`)), ms);
  });
  work.catch(() => {});
  return Promise.race([work, timeout]).finally(() => clearTimeout(timer));
}

/** Waits for 50 to 100 % of the time, so that many proxies do not reconnect at once. */
async function pause(ms: number, signal: AbortSignal): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const over = new Promise((resolve) => {
    timer = setTimeout(resolve, ms * (0.5 + Math.random() / 2));
  });
  await unlessAborted(over, signal);
  clearTimeout(timer);
}
