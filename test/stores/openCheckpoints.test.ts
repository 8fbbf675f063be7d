import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ContainerClient } from '@azure/storage-blob';
import { describe, expect, it, vi } from 'vitest';
import { folderForEach } from '../../iot-hub-emulator/test/support/fixtures.ts';
import { storedPositions } from '../../src/operations/openers.ts';
import { readSettings } from '../../src/settings/config.ts';
import { openStore } from '../../src/stores/open.ts';
import { takeOver } from '../hub/support/claims.ts';
import { storageAccount } from '../support/storageAccount.ts';

const directory = folderForEach('open-store');

const environment = (more: Record<string, string>) => ({
  HUB_EVENTS_CONNECTION_STRING:
    'Endpoint=sb://Hub.Example:5671/;SharedAccessKeyName=n;SharedAccessKey=a2V5;EntityPath=Devices',
  HUB_SERVICE_CONNECTION_STRING: 'HostName=hub.example;SharedAccessKeyName=n;SharedAccessKey=a2V5',
  ...{ HUB_CONSUMER_GROUP: '$Default', INFORMATION_MODEL_URL: 'https://im.example' },
  ...{ TYPE_REGISTRY_URL: 'https://tr.example', PRINCIPAL_MANAGER_URL: 'https://pm.example' },
  ...{ BACKENDS_TOKEN: 't', DATA_DIRECTORY: directory },
  ...more,
});
const open = (more: Record<string, string> = {}) => openStore(readSettings(environment(more), directory));

describe('the store of the settings', () => {
  it('is by default a file of the namespace, hub and consumer group', async () => {
    await takeOver(await open(), 'me');
    expect(readdirSync(join(directory, 'checkpoints'))).toEqual([
      `${encodeURIComponent('Hub.Example:5671 Devices $Default')}.json`,
    ]);
  });

  it('can be the blobs of the namespace, hub and consumer group', async () => {
    const { connectionString } = await storageAccount();
    const store = await open({ STORE: 'blob', STORE_CONNECTION_STRING: connectionString });
    await takeOver(store, 'me');
    const container = new ContainerClient(connectionString, 'checkpoints');
    expect(await container.getBlobClient('hub.example/devices/$default/ownership/0').exists()).toBe(true);
  });

  it('loads the storage client for blobs only, and for dead letters not before one is stored', async () => {
    const loaded: string[] = [];
    vi.resetModules();
    vi.doMock('@azure/storage-blob', () => {
      loaded.push('@azure/storage-blob');
      return { ContainerClient };
    });
    try {
      const fresh = await import('../../src/stores/open.ts');
      const blob = { STORE: 'blob', STORE_CONNECTION_STRING: 'UseDevelopmentStorage=true' };
      await fresh.openStore(readSettings(environment({}), directory));
      fresh.openDeadLetters(readSettings(environment(blob), directory), { warn() {} });
      expect(loaded).toEqual([]);
      await fresh.openStore(readSettings(environment(blob), directory));
      expect(loaded).toEqual(['@azure/storage-blob']);
    } finally {
      vi.doUnmock('@azure/storage-blob');
      vi.resetModules();
    }
  });
});

describe('the stored positions', () => {
  const at = (sequenceNumber: number) => ({ sequenceNumber, offset: `o${sequenceNumber}`, completed: '' });
  const read = (more: Record<string, string> = {}) => storedPositions(readSettings(environment(more), directory));

  async function write(more: Record<string, string> = {}) {
    const store = await open(more);
    for (const partition of ['0', '11']) {
      const record = await takeOver(store, 'me', partition);
      await store.writeCheckpoint(record, at(Number(partition) + 40));
    }
    return store;
  }

  it('in a file are read without taking the file from its process; what is no number is left out', async () => {
    expect([...(await read())]).toEqual([]);
    const store = await write();
    expect([...(await read())].sort()).toEqual([
      ['0', 40],
      ['11', 51],
    ]);
    expect(await store.ownerships()).toHaveLength(2);
    const [name = ''] = readdirSync(join(directory, 'checkpoints'));
    const path = join(directory, 'checkpoints', name);
    writeFileSync(path, readFileSync(path, 'utf8').replace('"sequenceNumber":40', '"sequenceNumber":"40"'));
    expect([...(await read())]).toEqual([['11', 51]]);
  });

  it.each(['STORE_CONNECTION_STRING', 'CHECKPOINTS_CONNECTION_STRING'])(
    'in an account are read with its %s; what is no number is left out',
    async (setting) => {
      const { connectionString } = await storageAccount();
      const nowhere = connectionString.replace(/BlobEndpoint=[^;]*/, 'BlobEndpoint=http://127.0.0.1:1/nowhere');
      const account = { STORE: 'blob', STORE_CONNECTION_STRING: nowhere, [setting]: connectionString };
      await write(account);
      expect([...(await read(account))].sort()).toEqual([
        ['0', 40],
        ['11', 51],
      ]);
      const blob = new ContainerClient(connectionString, 'checkpoints').getBlobClient(
        'hub.example/devices/$default/checkpoint/0',
      );
      await blob.setMetadata({ sequencenumber: 'forty', offset: 'o40' });
      expect([...(await read(account))]).toEqual([['11', 51]]);
    },
  );
});
