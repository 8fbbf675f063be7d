import { ContainerClient } from '@azure/storage-blob';
import type { AccountAccess } from '../identity/access.ts';

/** Attempts are counted here, not in the client. */
export const clientOptions = { retryOptions: { maxTries: 1 } };

/** A container of an account, by a connection string or with an identity. */
export const containerIn = (account: AccountAccess, container: string): ContainerClient =>
  typeof account === 'string'
    ? new ContainerClient(account, container, clientOptions)
    : new ContainerClient(`${account.url.replace(/\/+$/, '')}/${container}`, account.credential, clientOptions);
