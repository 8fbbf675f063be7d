import type { ContainerClient } from '@azure/storage-blob';
import { client, type Fact, page, thread } from '../fact.ts';
import { holds, same } from '../lab/differs.ts';
import type { Lab } from '../lab/lab.ts';
import { refusalOf } from '../lab/refusal.ts';

// The storage account that keeps checkpoints.

const conditional = page('storage/blobs/concurrency-manage');
const metadata = page('storage/blobs/storage-blob-properties-metadata');

/** A container of the run. */
async function container(lab: Lab): Promise<ContainerClient> {
  const { BlobServiceClient } = await import('@azure/storage-blob');
  const made = BlobServiceClient.fromConnectionString(lab.target.storage ?? '').getContainerClient(lab.run);
  lab.atEnd(() => made.delete());
  await made.create();
  return made;
}

const inContainer = (run: (made: ContainerClient) => Promise<void>) => ({
  needs: ['storage'] as const,
  run: async (lab: Lab) => run(await lab.shared(container)),
});

const codeOf = async (attempt: Promise<unknown>) => (await refusalOf(attempt))?.code;

export const storageFacts: readonly Fact[] = [
  {
    id: 'storage.new',
    says: 'A blob that must not exist (`If-None-Match: *`) and does: 409 with `BlobAlreadyExists`.',
    sources: [client('azurite, `WriteConditionalHeadersValidator.ts`'), thread('Azure/Azurite#1543')],
    noOtherWay: 'the service takes 412 for the same',
    check: inContainer(async (made) => {
      const blob = made.getBlockBlobClient('new');
      await blob.upload('1', 1, { conditions: { ifNoneMatch: '*' } });
      same('the code', await codeOf(blob.upload('2', 1, { conditions: { ifNoneMatch: '*' } })), 'BlobAlreadyExists');
    }),
  },
  {
    id: 'storage.version',
    says: 'A blob of another version (`If-Match`): 412 with `ConditionNotMet`. Each write of content or metadata makes another etag.',
    sources: [conditional],
    check: inContainer(async (made) => {
      const blob = made.getBlockBlobClient('version');
      const { etag = '' } = await blob.upload('1', 1);
      const { etag: next } = await blob.setMetadata({ a: '1' }, { conditions: { ifMatch: etag } });
      holds('metadata make another etag', next !== etag);
      same(
        'the code',
        await codeOf(blob.setMetadata({ a: '2' }, { conditions: { ifMatch: etag } })),
        'ConditionNotMet',
      );
    }),
  },
  {
    id: 'storage.metadata',
    says: 'A list has the metadata of each blob, and its etag without quotation marks. Metadata have 8 KB in all; setting replaces them.',
    sources: [metadata, client('`@azure/storage-blob`')],
    check: inContainer(async (made) => {
      const blob = made.getBlockBlobClient('metadata');
      await blob.upload('1', 1, { metadata: { sequencenumber: '7', offset: '1@2', of: 'x' } });
      const { etag = '' } = await blob.setMetadata({ sequencenumber: '8' });
      for await (const each of made.listBlobsFlat({ prefix: 'metadata', includeMetadata: true })) {
        same('the metadata', { ...each.metadata }, { sequencenumber: '8' });
        same('the etag', each.properties.etag.replaceAll('"', ''), etag.replaceAll('"', ''));
      }
    }),
  },
  {
    id: 'storage.names',
    says: 'A name may have any characters, and a list has it as it was given; `.` and `..` between slashes are resolved by the client.',
    sources: [page('storage/blobs/storage-blobs-introduction'), client('`@azure/storage-blob`')],
    check: inContainer(async (made) => {
      const name = 'names/a b%2F ü$&+/0';
      await made.getBlockBlobClient(name).upload('1', 1);
      const names: string[] = [];
      for await (const each of made.listBlobsFlat({ prefix: 'names/' })) names.push(each.name);
      same('the names', names, [name]);
    }),
  },
];
