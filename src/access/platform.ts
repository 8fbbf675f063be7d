import {
  AzureCliCredential,
  ManagedIdentityCredential,
  type TokenCredential,
  WorkloadIdentityCredential,
} from '@azure/identity';
import { directAgent, outboundAgent } from '@device-messaging/telemetry/outbound.ts';
import type { Settings } from '../settings/config.ts';

/**
 * The one credential that the settings name: none of them tries another (D365).
 * @throws Error when a variable of the platform is missing
 */
export function platformCredential({ kind, clientId, authorityHost }: Settings['identity']): TokenCredential {
  const own = clientId === '' ? {} : { clientId };
  switch (kind) {
    case 'workload':
      // The host is a setting: asking the public cloud whether it exists would need a way to the public cloud.
      return new WorkloadIdentityCredential({
        ...{ ...own, authorityHost, disableInstanceDiscovery: true },
        agent: outboundAgent,
      });
    case 'managed':
      // What gives these tokens is a part of the machine, which no proxy leads to.
      return new ManagedIdentityCredential({ ...own, agent: directAgent });
    case 'developer':
      return new AzureCliCredential();
    default:
      throw new Error('there is no IDENTITY');
  }
}
