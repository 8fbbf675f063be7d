import { rename } from 'node:fs/promises';
import { join } from 'node:path';
import { type Access, accessOf } from '../../identity/access.ts';
import { noMeter } from '../../metrics/meter.ts';
import { createStoreRecords } from '../../observing/storeRecords.ts';
import { isLookedUp, placeOf } from '../../settings/derived.ts';
import { directoriesOf } from '../../settings/directories.ts';
import { amqpsPort, hubLoginOf, hubNameOf } from '../../settings/hubLogin.ts';
import { ForeignFile, readBounded } from '../../storage/boundedReads.ts';
import { createInstrumentedCall } from '../../storage/instrumentedCall.ts';
import type { DurableText } from './buildRecord.ts';
import { hubPlaceOf, type StoreSettings } from './openStore.ts';
import { writeWhole } from './writeWhole.ts';

const mostBytes = 64 * 1024;

/** What is recorded beside the checkpoints: the builds that have started, and the endpoints that the hub has had. */
type RecordName = 'builds' | 'endpoints';

/** Of the event endpoint that the settings name, or of the hub, whose endpoint can change. */
export function openDurableText(
  what: RecordName,
  settings: StoreSettings,
  records = createStoreRecords(noMeter),
  access: Pick<Access, 'account'> = accessOf(settings),
): DurableText {
  const { checkpoints, store } = settings;
  const ask = createInstrumentedCall('checkpoints', placeOf(checkpoints, store, 'CHECKPOINTS'), records);
  const record = store.kind === 'blob' ? inBlob(what, settings, access) : inFile(what, settings);
  return {
    read: () => ask('read', record.read),
    write: (text, etag) => ask('write', () => record.write(text, etag)),
  };
}

/** Only one instance has the folder: no other process changes it meanwhile. */
function inFile(what: RecordName, { hub, data }: StoreSettings): DurableText {
  const { endpoint, name, consumerGroup } = recordPlaceOf(hub);
  const place = encodeURIComponent([endpoint, name, consumerGroup].join(' '));
  const path = join(directoriesOf(data).checkpoints, `${place}.${what}`);
  return {
    async read() {
      try {
        return { text: readBounded(path, mostBytes), etag: '' };
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
        if (error instanceof ForeignFile) return { text: '', etag: '' }; // not ours: replaced, as in a blob
        throw error;
      }
    },
    async write(text) {
      await writeWhole(`${path}.new`, text);
      await rename(`${path}.new`, path);
      return true;
    },
  };
}

/** The storage client is loaded already, for the checkpoints. */
function inBlob(what: RecordName, { hub, checkpoints }: StoreSettings, access: Pick<Access, 'account'>): DurableText {
  const { namespace, name, consumerGroup } = recordPlaceOf(hub);
  const account = access.account('checkpoints');
  const opened = import('./blobStore.ts').then(({ createBlobText }) =>
    createBlobText({ account, container: checkpoints.container, namespace, hub: name, consumerGroup }, what),
  );
  return {
    read: async () => (await opened).read(),
    write: async (text, etag) => (await opened).write(text, etag),
  };
}

function recordPlaceOf(hub: StoreSettings['hub']): ReturnType<typeof hubPlaceOf> {
  if (!isLookedUp(hub)) return hubPlaceOf(hub);
  const { host, port } = hubLoginOf(hub.serviceConnectionString);
  const name = hubNameOf({ host });
  return {
    endpoint: port === amqpsPort ? host : `${host}:${port}`,
    namespace: host,
    name,
    consumerGroup: hub.consumerGroup,
  };
}
