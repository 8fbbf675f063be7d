import { randomBytes } from 'node:crypto';
import { mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import { BlobServiceClient } from '@azure/storage-blob';
import { accountName, connectionStringTo, startAzurite } from '../../sandbox/methods/azurite.ts';

const preload = pathToFileURL(join(import.meta.dirname, 'azuriteKeysPreload.js')).href;
const newKey = () => randomBytes(64).toString('base64');

export type RotatingAzurite = Awaited<ReturnType<typeof startRotatingAzurite>>;

/** A storage account whose two keys can be renewed. */
export async function startRotatingAzurite() {
  const directory = mkdtempSync(join(tmpdir(), 'account-keys-'));
  const file = join(directory, 'keys');
  const keys: [string, string] = [newKey(), newKey()];
  const write = () => {
    writeFileSync(`${file}.next`, `${accountName}:${keys.join(':')}`, { mode: 0o600 });
    renameSync(`${file}.next`, file);
  };
  write();
  const azurite = await startAzurite({ variables: { AZURITE_KEYS_FILE: file, NODE_OPTIONS: `--import=${preload}` } });
  const withKey = (key: string) => connectionStringTo(azurite.port, accountName, key);
  const isRefused = (key: string) =>
    BlobServiceClient.fromConnectionString(withKey(key), { retryOptions: { maxTries: 1 } })
      .getProperties()
      .then(
        () => false,
        ({ statusCode }) => statusCode === 403,
      );
  return {
    ...azurite,
    connectionString: withKey(keys[0]),
    /** Of one of the keys as they are now. */
    connectionStringOf: (which: 0 | 1) => withKey(keys[which]),
    /** Gives it another key. Resolves when the old one is refused. */
    async renew(which: 0 | 1) {
      const old = keys[which];
      keys[which] = newKey();
      write();
      while (!(await isRefused(old))) await sleep(25);
    },
    async close() {
      await azurite.close();
      rmSync(directory, { recursive: true, force: true });
    },
  };
}
