import { randomUUID } from 'node:crypto';
import { feedbackRules } from '../cloudToDevice/feedback.ts';
import { createLockedQueue, type LockedQueue } from '../cloudToDevice/queue.ts';
import type { Registry } from '../identity/registry.ts';
import { Refusal } from '../values/refusal.ts';
import { sizeOf } from '../values/size.ts';
import { type FileStorage, openContainer } from './storageAccount.ts';

/** What services are told of an uploaded file, in the words in which they get it. */
export interface FileNotification {
  deviceId: string;
  blobUri: string;
  blobName: string;
  /** ISO 8601, as is the other time. */
  lastUpdatedTime: string;
  blobSizeInBytes: number;
  enqueuedTimeUtc: string;
}

/** What a device is given to upload a file. */
export type UploadGrant = Readonly<
  Record<'correlationId' | 'hostName' | 'containerName' | 'blobName' | 'sasToken', string>
>;

/** Files that devices upload to a storage account, past the hub. */
export interface Uploads {
  /** Refuses a name that no blob can have, and what would be too many uploads of the device at once. */
  begin(deviceId: string, blobName: string): UploadGrant;
  /** The device says how its upload has ended; then services are told of the file, if it is there. Refuses an unknown id. */
  end(deviceId: string, correlationId: string, isSuccess: boolean): Promise<void>;
  /** The notifications; all receivers share them. */
  readonly notifications: LockedQueue<FileNotification>;
}

interface Upload {
  blobName: string;
  sasToken: string;
  until: number;
}

const mostAtOnce = 10;
const lifeMs = 3600 * 1000;
const longestName = 1024;

/** Uploads in memory; notifications of at most so many bytes: the oldest goes. */
export function createUploads(options: {
  storage: FileStorage;
  registry: Registry;
  bytes: number;
  now: () => number;
}): Uploads {
  const { storage, registry, bytes, now } = options;
  const container = openContainer(storage);
  const underWay = new Map<string, Map<string, Upload>>();
  const notifications = createLockedQueue<FileNotification>({
    rules: feedbackRules,
    now,
    bound: { bytes, of: sizeOf },
    onOutcome: () => undefined,
  });
  registry.watch((change, { clientId }) => {
    if (change === 'deleted') underWay.delete(clientId);
  });

  const of = (deviceId: string): Map<string, Upload> => {
    const own = underWay.get(deviceId) ?? new Map<string, Upload>();
    for (const [id, { until }] of own) if (until <= now()) own.delete(id);
    underWay.set(deviceId, own);
    return own;
  };

  return {
    notifications,
    begin(deviceId, name) {
      const blobName = `${deviceId}/${name}`;
      if (name === '' || blobName.length > longestName || name.split('/').some((part) => part === '.' || part === '..'))
        throw new Refusal('com.microsoft:argument-error', 'The name of the blob is none.');
      const own = of(deviceId);
      if (own.size >= mostAtOnce)
        throw new Refusal('com.microsoft:too-many-uploads', `The device has ${mostAtOnce} uploads under way.`);
      const correlationId = Buffer.from(randomUUID()).toString('base64');
      const until = now() + lifeMs;
      const sasToken = container.tokenFor(blobName, until);
      own.set(correlationId, { blobName, sasToken, until });
      return { correlationId, hostName: container.host, containerName: container.name, blobName, sasToken };
    },

    async end(deviceId, correlationId, isSuccess) {
      const own = of(deviceId);
      const upload = own.get(correlationId);
      if (!upload)
        throw new Refusal('com.microsoft:argument-error', 'The device has no upload of this correlation id.');
      own.delete(correlationId);
      const { blobName, sasToken } = upload;
      const found = isSuccess ? await container.look(blobName, sasToken) : undefined;
      if (!found) return;
      notifications.add({
        deviceId,
        blobUri: container.addressOf(blobName),
        blobName,
        lastUpdatedTime: found.lastModified,
        blobSizeInBytes: found.bytes,
        enqueuedTimeUtc: new Date(now()).toISOString(),
      });
    },
  };
}
