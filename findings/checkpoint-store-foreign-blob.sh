#!/usr/bin/env bash
# @azure/eventhubs-checkpointstore-blob: one blob below the prefix of the checkpoints without its two metadata, as a copy tool or a restored backup
# leaves it, makes listCheckpoints() throw for all partitions: no consumer of the group starts, and the readable checkpoints are not given.
. "$(dirname "$0")/common.sh"
packages @azure/eventhubs-checkpointstore-blob@2.0.0 @azure/storage-blob@12.32.0 azurite@3.35.0
seen <<'JS'
import { BlobCheckpointStore } from '@azure/eventhubs-checkpointstore-blob';
import { BlobServiceClient } from '@azure/storage-blob';
import { startStorage } from './azurite.mjs';

const storage = await startStorage();
const container = BlobServiceClient.fromConnectionString(storage.connectionString).getContainerClient('checkpoints');
await container.create();
const store = new BlobCheckpointStore(container);
const [fullyQualifiedNamespace, eventHubName, consumerGroup] = ['n.servicebus.windows.net', 'hub', '$Default'];
const place = { fullyQualifiedNamespace, eventHubName, consumerGroup };
const list = () =>
  store.listCheckpoints(fullyQualifiedNamespace, eventHubName, consumerGroup).then(
    (all) => `${all.length} checkpoint`,
    ({ message }) => message,
  );
await store.updateCheckpoint({ ...place, partitionId: '0', offset: '5', sequenceNumber: 5 });
console.log('before:', await list());
await container.getBlockBlobClient('n.servicebus.windows.net/hub/$default/checkpoint/1').upload('', 0);
console.log('with a blob without metadata beside it:', await list());
storage.close();
JS
expected <<'TEXT'
before: 1 checkpoint
with a blob without metadata beside it: Missing metadata property 'offset' on blob 'n.servicebus.windows.net/hub/$default/checkpoint/1'
TEXT
