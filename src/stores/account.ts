import { ContainerClient, type RestError, type StoragePipelineOptions } from '@azure/storage-blob';
import { outboundAgent } from '@device-messaging/telemetry/outbound.ts';
import type { AccountAccess } from '../access/access.ts';
import { currentOf, isSecret, renewed } from '../access/secretFiles.ts';
import { sleep } from '../concurrency/waiting.ts';

/** Attempts are counted here, not in the client. The agent, which its type lacks, keeps it from looking for a proxy by itself. */
export const clientOptions = (): StoragePipelineOptions =>
  Object.assign({ retryOptions: { maxTries: 1 } }, { agent: outboundAgent });

export interface ContainerAccess {
  /** With the key of the storage account, a shared access signature for the container, or an identity. */
  readonly account: AccountAccess;
  /** Created at the first use if it does not exist. */
  readonly container: string;
}

export interface CallLimits {
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
  readonly date: string | undefined;
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

/** What an account has said, as the error of its client has it. */
export function answerOf(error: unknown) {
  const { statusCode: status, code, details, name, response } = error as RestError;
  const { errorCode } = (details ?? {}) as { errorCode?: string }; // of a response without a body
  return { status, code: code ?? errorCode ?? name, date: response?.headers.get('date') };
}

type Once<T> = (abortSignal: AbortSignal) => Promise<T>;
const transientStatuses = [undefined, 408, 429, 500, 502, 503, 504];

/** A container, with the key of the moment or an identity; calls to it, with retries and time-outs. @param storage its name in errors */
export function openContainer({ account, container }: ContainerAccess, storage: string, limits: CallLimits) {
  const keyNow = () => (isSecret(account) ? currentOf(account) : undefined);
  const open = (): ContainerClient =>
    isSecret(account)
      ? new ContainerClient(currentOf(account), container, clientOptions())
      : new ContainerClient(`${account.url.replace(/\/+$/, '')}/${container}`, account.credential, clientOptions());
  let key = keyNow();
  let opened = open();
  let isThere = false;

  /** The same until the key changes: it is asked for with each request. */
  function client(): ContainerClient {
    const now = keyNow();
    if (now !== key) {
      key = now;
      opened = open();
    }
    return opened;
  }

  /** Whether there is another key than the one that the account has refused: it may have come since. */
  const hasOtherKey = async (tried: string | undefined): Promise<boolean> =>
    isSecret(account) && tried !== undefined && (await renewed(account, tried)) !== tried;

  /** Ends before `by` (as `performance.now()`), and makes no further attempt when `caller` is aborted. @throws StorageError */
  async function attempt<T>(what: string, by: number, once: Once<T>, caller?: AbortSignal): Promise<T> {
    const isTimeFor = (pauseMs: number) => performance.now() + pauseMs < by && !caller?.aborted;
    for (let count = 1; ; count += 1) {
      const tried = keyNow();
      const leftMs = Math.min(limits.attemptMs, by - performance.now());
      const limit = AbortSignal.timeout(Math.max(1, Math.ceil(leftMs))); // a time-out is a whole number
      try {
        return await once(caller ? AbortSignal.any([caller, limit]) : limit);
      } catch (error) {
        const { status, code, date } = answerOf(error);
        if (code === 'ContainerNotFound') isThere = false;
        const isRefused = status === 401 || status === 403;
        if (isRefused && isTimeFor(0) && (await hasOtherKey(tried))) continue;
        const pause = limits.pauseMs * 2 ** (count - 1);
        if (count >= limits.attempts || !transientStatuses.includes(status) || !isTimeFor(pause))
          throw new StorageError(`${storage}: ${what}`, status, code, date);
        await sleep(pause);
      }
    }
  }

  /** A key without the right to create containers suffices when the container exists. */
  async function ensureContainer(by: number): Promise<void> {
    if (isThere) return;
    await attempt('creating the container', by, async (abortSignal) => {
      await client()
        .createIfNotExists({ abortSignal })
        .catch((error) => {
          if (error.statusCode !== 403) throw error;
        });
      isThere = true;
    });
  }

  return { client, attempt, ensureContainer };
}
