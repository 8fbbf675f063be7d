import type { ContainerClient, RestError } from '@azure/storage-blob';
import type { AccountClient } from './containerIn.ts';

export interface CallLimits {
  /** Limit of one attempt. */
  readonly attemptMs: number;
  readonly attempts: number;
  /** Pause before the second attempt; it doubles before each further one. */
  readonly pauseMs: number;
}

/** An account has refused, or has not answered. The message has no request, which has tokens (G5). */
export class StorageError extends Error {
  override readonly name = 'StorageError';
  /** HTTP status; undefined without an answer. */
  readonly status: number | undefined;
  readonly code: string;
  /** The header of that name. */
  readonly date: string | undefined;
  /** Status and code. */
  readonly said: string;

  constructor(what: string, status: number | undefined, code: string, date?: string) {
    const said = [status, code].join(' ').trim();
    super(`${what} failed: ${said}`);
    this.status = status;
    this.code = code;
    this.date = date;
    this.said = said;
  }
}

/** Calls to one container, with retries and time-outs. */
export interface StorageCalls {
  /**
   * Ends before `by` (as `performance.now()`).
   * @throws StorageError with the operation and the reason
   */
  attempt<T>(what: string, by: number, once: (abortSignal: AbortSignal) => Promise<T>): Promise<T>;
  /** A key without the right to create containers suffices when the container exists. */
  ensureContainer(by: number): Promise<void>;
}

/** Whether the account has answered that this key may not do it. */
export const isRefusal = (status: number | undefined): boolean => status === 401 || status === 403;

/** Whether somebody holds a lease on the blob, without which the account changes nothing: no other writer was faster. */
export const isLease = (code: string | undefined): boolean => code?.startsWith('Lease') ?? false;

/** Not that of `node:timers/promises`, which takes no part in virtual time. */
export const sleep = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms));

const transientStatuses = [undefined, 408, 429, 500, 502, 503, 504];

/** @param storage its name in errors */
export function createStorageCalls(
  container: AccountClient<ContainerClient>,
  storage: string,
  limits: CallLimits,
): StorageCalls {
  let isThere = false;

  /** A time-out is a whole number. */
  const attemptMs = (by: number) => Math.max(1, Math.ceil(Math.min(limits.attemptMs, by - performance.now())));

  async function attempt<T>(what: string, by: number, once: (abortSignal: AbortSignal) => Promise<T>): Promise<T> {
    for (let count = 1; ; count += 1) {
      const hasOtherKey = container.attempt();
      try {
        return await once(AbortSignal.timeout(attemptMs(by)));
      } catch (error) {
        const { statusCode, code, name, response } = error as RestError;
        if (code === 'ContainerNotFound') isThere = false;
        if (isRefusal(statusCode) && performance.now() < by && (await hasOtherKey())) continue;
        const pause = limits.pauseMs * 2 ** (count - 1);
        if (count >= limits.attempts || !transientStatuses.includes(statusCode) || performance.now() + pause >= by) {
          throw new StorageError(`${storage}: ${what}`, statusCode, code ?? name, response?.headers.get('date'));
        }
        await sleep(pause);
      }
    }
  }

  return {
    attempt,
    async ensureContainer(by) {
      if (isThere) return;
      await attempt('creating the container', by, async (abortSignal) => {
        await container
          .client()
          .createIfNotExists({ abortSignal })
          .catch((error) => {
            if (error.statusCode !== 403) throw error;
          });
        isThere = true;
      });
    },
  };
}
