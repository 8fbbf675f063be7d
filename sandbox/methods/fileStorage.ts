import { BlobServiceClient } from '@azure/storage-blob';
import { startAzurite } from './azurite.ts';

/** A storage account with the container of the front door's files. M9 */
export interface FileStorage {
  readonly connectionString: string;
  readonly container: string;
  close(): Promise<void>;
}

const container = 'files';

/** Each tenant has its own folder. */
const exampleFiles: Readonly<Record<string, Buffer>> = {
  'acme/curves/soft-start.json': Buffer.from('{"seconds":[0,2,5],"percent":[0,30,100]}\n'),
  'acme/firmware/motor-2.1.0.bin': Buffer.alloc(65_536, 'motor firmware 2.1.0\n'),
  'globex/secret.txt': Buffer.from('Nobody of acme gets this.\n'),
};

/** Starts a storage account in memory, with the example files. */
export async function startFileStorage(): Promise<FileStorage> {
  const { connectionString, close } = await startAzurite();
  try {
    await putExampleFiles(connectionString);
  } catch (error) {
    await close();
    throw error;
  }
  return { connectionString, container, close };
}

/** Makes the container with the example files. */
export async function putExampleFiles(connectionString: string): Promise<void> {
  const client = BlobServiceClient.fromConnectionString(connectionString).getContainerClient(container);
  await client.create();
  for (const [name, bytes] of Object.entries(exampleFiles)) await client.getBlockBlobClient(name).uploadData(bytes);
}
