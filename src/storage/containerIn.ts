import { ContainerClient, type StoragePipelineOptions } from '@azure/storage-blob';
import { outboundAgent } from 'telemetry/network/outbound.ts';
import type { AccountAccess } from '../identity/access.ts';

/**
 * Attempts are counted here, not in the client. The agent, which the client passes on without declaring it, keeps it from looking for a
 * proxy by itself.
 */
export const clientOptions = (): StoragePipelineOptions =>
  Object.assign({ retryOptions: { maxTries: 1 } }, { agent: outboundAgent });

/** A container of an account, by a connection string or with an identity. */
export const containerIn = (account: AccountAccess, container: string): ContainerClient =>
  typeof account === 'string'
    ? new ContainerClient(account, container, clientOptions())
    : new ContainerClient(`${account.url.replace(/\/+$/, '')}/${container}`, account.credential, clientOptions());
