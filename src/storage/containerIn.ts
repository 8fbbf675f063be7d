import { ContainerClient, type StoragePipelineOptions } from '@azure/storage-blob';
import { outboundAgent } from 'telemetry/network/outbound.ts';
import type { AccountAccess } from '../identity/access.ts';
import { currentOf, isSecret, renewed } from '../identity/secretFiles.ts';

/**
 * Attempts are counted here, not in the client. The agent, which the client passes on without declaring it, keeps it from looking for a
 * proxy by itself.
 */
export const clientOptions = (): StoragePipelineOptions =>
  Object.assign({ retryOptions: { maxTries: 1 } }, { agent: outboundAgent });

/** A client of an account with the key of the moment, or with an identity. */
export interface AccountClient<Client> {
  /** The same until the key changes: it is asked for with each request. */
  client(): Client;
  /** To call before a request. What it returns tells, when the account has refused the request, whether another key came since. */
  attempt(): () => Promise<boolean>;
}

/** @param open makes the client, by a connection string or with an identity */
export function accountClient<Client>(
  account: AccountAccess,
  open: (account: string | Exclude<AccountAccess, { current(): string }>) => Client,
): AccountClient<Client> {
  if (!isSecret(account)) {
    const client = open(account);
    return { client: () => client, attempt: () => async () => false };
  }
  let key = currentOf(account);
  let client = open(key);
  return {
    client() {
      const now = currentOf(account);
      if (now !== key) {
        key = now;
        client = open(now);
      }
      return client;
    },
    attempt() {
      const tried = currentOf(account);
      return async () => (await renewed(account, tried)) !== tried;
    },
  };
}

/** A container of an account. */
export const containerIn = (account: AccountAccess, container: string): AccountClient<ContainerClient> =>
  accountClient(account, (now) =>
    typeof now === 'string'
      ? new ContainerClient(now, container, clientOptions())
      : new ContainerClient(`${now.url.replace(/\/+$/, '')}/${container}`, now.credential, clientOptions()),
  );
