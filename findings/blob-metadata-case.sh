#!/usr/bin/env bash
# @azure/storage-blob: the same metadata has two spellings. getProperties() reads it from headers and gives every name in lower case; a listing reads it
# from XML and keeps the case that was written. Code that finds `metadata.ownerId` in one way does not find it in the other.
. "$(dirname "$0")/common.sh"
packages @azure/storage-blob@12.32.0 azurite@3.35.0
seen <<'JS'
import { BlobServiceClient } from '@azure/storage-blob';
import { startStorage } from './azurite.mjs';

const storage = await startStorage();
const service = BlobServiceClient.fromConnectionString(storage.connectionString);
const container = service.getContainerClient('owners');
await container.create();
const blob = container.getBlockBlobClient('0');
await blob.upload('', 0, { metadata: { ownerId: 'a' } });
console.log('getProperties:', (await blob.getProperties()).metadata);
for await (const { metadata } of container.listBlobsFlat({ includeMetadata: true })) console.log('a listing:', metadata);
storage.close();
JS
expected <<'TEXT'
getProperties: { ownerid: 'a' }
a listing: { ownerId: 'a' }
TEXT
