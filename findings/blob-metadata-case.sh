#!/usr/bin/env bash
# @azure/storage-blob: the same metadata has two spellings. getProperties() reads it from headers and gives every name in lower case; a listing reads it
# from XML and keeps the case that was written. Code that finds `metadata.ownerId` in one way does not find it in the other.
. "$(dirname "$0")/common.sh"
packages @azure/storage-blob@12.32.0 azurite@3.35.0
seen <<'JS'
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { BlobServiceClient } from '@azure/storage-blob';

const program = ['node_modules/azurite/dist/src/blob/main.js', '--blobPort', '0', '--inMemoryPersistence', '--skipApiVersionCheck'];
const env = { ...process.env, AZURITE_ACCOUNTS: 'findings:a2V5' };
const storage = spawn(process.execPath, program, { env, stdio: ['ignore', 'pipe', 'inherit'] });
let said = '';
while (!/http:\/\/127\.0\.0\.1:\d+/.test(said)) said += (await once(storage.stdout, 'data'))[0];
const [address] = /http:\/\/127\.0\.0\.1:\d+/.exec(said);
const account = `DefaultEndpointsProtocol=http;AccountName=findings;AccountKey=a2V5;BlobEndpoint=${address}/findings`;
const service = BlobServiceClient.fromConnectionString(account);
const container = service.getContainerClient('owners');
await container.create();
const blob = container.getBlockBlobClient('0');
await blob.upload('', 0, { metadata: { ownerId: 'a' } });
console.log('getProperties:', (await blob.getProperties()).metadata);
for await (const { metadata } of container.listBlobsFlat({ includeMetadata: true })) console.log('a listing:', metadata);
storage.kill();
JS
expected <<'TEXT'
getProperties: { ownerid: 'a' }
a listing: { ownerId: 'a' }
TEXT
