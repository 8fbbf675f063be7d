import { randomUUID } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { startHub } from 'iot-hub-emulator';
import { startAuthority } from 'iot-hub-emulator/authority';
import { createJournal } from 'iot-hub-emulator/journal';
import { startBackends } from '../../sandbox/backends/backends.ts';
import { startAzurite } from '../../sandbox/methods/azurite.ts';
import { frontDoorEnvironment, serviceEnvironment } from '../../sandbox/service/environment.ts';
import type { Pod } from './pod.ts';

/** What is around a pod, on this machine: a hub, backends and a storage account. */
export interface Stage {
  /** What a Secret has, and the real values of addresses and names, by variable. */
  readonly known: Readonly<Record<string, string>>;
  readonly caFile: string;
  /** What the platform puts into a pod by itself, once it has the folder. */
  injected(pod: Pod, folder: string): Promise<Readonly<Record<string, string>>>;
  close(): Promise<unknown>;
}

const consumerGroups = ['device-messaging'];

export async function stageWithKeys(directory: string): Promise<Stage> {
  const journal = createJournal();
  const hub = await startHub({ journal, directory: join(directory, 'hub'), consumerGroups });
  const backends = await startBackends({ seed: true, journal });
  const azurite = await startAzurite();
  const files = { connectionString: azurite.connectionString, container: 'files' };
  const ports = { port: 0, healthPort: 0, adminPort: 0 };
  return {
    known: {
      ...frontDoorEnvironment(hub, backends, files, ports),
      ...serviceEnvironment(hub, backends, 'http://127.0.0.1:1', directory),
      STORE_CONNECTION_STRING: azurite.connectionString,
    },
    caFile: hub.caFile,
    injected: async () => ({}),
    close: () => Promise.all([azurite.close(), backends.close(), hub.close()]),
  };
}

/** The backends' own resources, each as its scope names it. */
const backendScopes: Readonly<Record<string, string>> = {
  informationModel: 'api://information-model.example',
  typeRegistry: 'api://type-registry.example',
  principalManager: 'api://principal-manager.example',
};
const platform = ['https://iothubs.azure.net', 'https://eventhubs.azure.net', 'https://storage.azure.com'];

/** As a cluster with the webhook of Azure Workload Identity: it takes no key. */
export async function stageWithIdentity(directory: string): Promise<Stage> {
  const hubDirectory = join(directory, 'hub-with-identity');
  const principal = {
    clientId: '00000000-0000-0000-0000-000000000000',
    objectId: randomUUID(),
    federatedToken: `projected-${randomUUID()}`,
  };
  const authority = await startAuthority({
    directory: hubDirectory,
    principals: [principal],
    resources: [...platform, ...Object.values(backendScopes)],
  });
  const rights = { [principal.objectId]: ['messageSend', 'routedListen'] as const };
  const hub = await startHub({
    ...{ directory: hubDirectory, consumerGroups, authority: { ...authority.trust, rights } },
    routeTo: { name: 'device-messages', partitions: 4 },
  });
  const certificate = { cert: join(hubDirectory, 'server.pem'), key: join(hubDirectory, 'server.key') };
  const backends = await startBackends({
    seed: true,
    accepts: (backend, token) => authority.accepts(token, backendScopes[backend] ?? ''),
  });
  const storage = await startAzurite({ certificate });
  const host = `localhost:${hub.ports.amqps}`;
  return {
    known: {
      ...{ HUB_EVENTS_NAMESPACE: host, HUB_HOST_NAME: host, STORE_ACCOUNT_URL: storage.url },
      INFORMATION_MODEL_URL: backends.informationModelUrl,
      TYPE_REGISTRY_URL: backends.typeRegistryUrl,
      PRINCIPAL_MANAGER_URL: backends.principalManagerUrl,
    },
    caFile: hub.caFile,
    async injected({ clientId }, folder) {
      if (clientId === undefined) return {};
      const file = join(folder, 'azure-identity-token');
      await writeFile(file, principal.federatedToken, { mode: 0o644 });
      return {
        ...{ AZURE_CLIENT_ID: clientId, AZURE_TENANT_ID: authority.tenantId, AZURE_FEDERATED_TOKEN_FILE: file },
        IDENTITY_AUTHORITY_HOST: authority.url, // that of the public cloud is the default
      };
    },
    close: () => Promise.all([storage.close(), backends.close(), hub.close(), authority.close()]),
  };
}
