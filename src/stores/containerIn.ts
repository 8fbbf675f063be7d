import { ContainerClient, type StoragePipelineOptions } from '@azure/storage-blob';
import { outboundAgent } from '@device-messaging/telemetry/outbound.ts';
import type { AccountAccess } from '../access/access.ts';
import { currentOf, isSecret, renewed } from '../access/secretFiles.ts';

/**
 * Attempts are counted here, not in the client. The agent, which the client passes on without declaring it, keeps it from looking for a
 * proxy by itself.
 */
export const clientOptions = (): StoragePipelineOptions =>
  Object.assign({ retryOptions: { maxTries: 1 } }, { agent: outboundAgent });

export interface ContainerAccess {
  /** With the key of the storage account, a shared access signature for the container, or an identity. */
  readonly account: AccountAccess;
  /** Created at the first use if it does not exist. */
  readonly container: string;
}

export type Container = ReturnType<typeof containerIn>;

/** A container of an account, with the key of the moment, or with an identity. */
export function containerIn(account: AccountAccess, container: string) {
  const open = (): ContainerClient =>
    isSecret(account)
      ? new ContainerClient(currentOf(account), container, clientOptions())
      : new ContainerClient(`${account.url.replace(/\/+$/, '')}/${container}`, account.credential, clientOptions());
  const keyNow = () => (isSecret(account) ? currentOf(account) : undefined);
  let key = keyNow();
  let client = open();

  return {
    /** The same until the key changes: it is asked for with each request. */
    client() {
      const now = keyNow();
      if (now !== key) {
        key = now;
        client = open();
      }
      return client;
    },
    /** To call before a request. What it returns tells, when the account has refused the request, whether another key came since. */
    attempt() {
      const tried = keyNow();
      return async () => isSecret(account) && tried !== undefined && (await renewed(account, tried)) !== tried;
    },
  };
}
