import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { folderForAll } from '../../iot-hub-emulator/test/support/fixtures.ts';
import { hubForAll } from '../../iot-hub-emulator/test/support/sharedHub.ts';
import { cureHubSdks } from '../../src/hub/sdkCures.ts';
import { createLog } from '../../src/observing/log.ts';
import { StoreFailure } from '../../src/observing/storeFailure.ts';
import { openDeadLetters, openStore } from '../../src/stores/open.ts';
import { consumersForEach, usualOpened } from '../hub/support/reading.ts';
import { settings } from '../support/environment.ts';
import { letter } from '../support/letters.ts';
import { storageForAll } from '../support/storageAccount.ts';

// What somebody learns who has set something wrong about the stores.

cureHubSdks();

const directory = folderForAll('wrong-store');
const storage = storageForAll();
const hub = hubForAll({ partitions: 2 });
const begin = consumersForEach();

const wrongKey = () => storage.connectionString.replace(/AccountKey=[^;]*/, 'AccountKey=d3Jvbmc=');
const endpoint = /BlobEndpoint=[^;]*/;

interface Given {
  /** Of the account that both stores share. */
  readonly shared?: () => string;
  readonly checkpoints?: () => string;
}

const noHost = () =>
  storage.connectionString.replace(endpoint, 'BlobEndpoint=http://no-such-host.invalid/devstoreaccount1');
const mustBe = /AccountKey must be that of AccountName|must allow to/;

const cases: readonly (readonly [what: string, Given, setting: string, storeSaid: RegExp, todo: RegExp])[] = [
  ['a wrong key', { shared: wrongKey }, 'STORE_CONNECTION_STRING', /^403 \w+/, mustBe],
  ['a wrong key of checkpoints', { checkpoints: wrongKey }, 'CHECKPOINTS_CONNECTION_STRING', /^403 \w+/, /must/],
  [
    'a host that is not there',
    { shared: noHost },
    'STORE_CONNECTION_STRING',
    /^(ENOTFOUND|EAI_AGAIN|REQUEST_SEND_ERROR)$/,
    /compare AccountName or BlobEndpoint/,
  ],
];

it.each(cases)('%s of the checkpoints is logged at once, and shown in /readyz', async (_, one, setting, ...said) => {
  const lines: Record<string, unknown>[] = [];
  const store = await openStore({
    ...settings,
    hub: { ...settings.hub, eventsConnectionString: hub.eventsConnectionString },
    store: { ...settings.store, kind: 'blob', connectionString: one.shared?.() ?? storage.connectionString },
    checkpoints: { ...settings.checkpoints, connectionString: one.checkpoints?.() ?? '' },
  });
  const consumer = begin({
    access: hub.eventsConnectionString,
    store,
    log: createLog('info', { write: (line) => lines.push(JSON.parse(line)) }),
    partition: () => ({ ...usualOpened(), dispatch: async () => true }),
  });
  await expect.poll(() => lines, { timeout: 10_000 }).toHaveLength(1);
  expect(lines[0]).toMatchObject({
    msg: 'could not look after the partitions; trying again',
    setting,
    storeSaid: expect.stringMatching(said[0]),
    todo: expect.stringMatching(said[1]),
  });
  expect(consumer.missing()).toEqual([`the checkpoint store: ${lines[0]?.['storeSaid']} (${setting})`]);
  expect(JSON.stringify(lines)).not.toContain('d3Jvbmc');
});

it('a wrong key of the dead letters is logged with its setting', async () => {
  const deadLetters = openDeadLetters(
    {
      ...settings,
      store: { ...settings.store, kind: 'blob', connectionString: storage.connectionString },
      deadLetters: { ...settings.deadLetters, connectionString: wrongKey() },
    },
    { warn: () => {} },
  );
  const failure = await deadLetters.park(letter(1)).catch((error: unknown) => error);
  expect(failure).toBeInstanceOf(StoreFailure);
  expect(failure).toMatchObject({
    fault: 'refused',
    diagnosis: { setting: 'DEAD_LETTERS_CONNECTION_STRING', storeSaid: expect.stringMatching(/^403 /) },
  });
});

it('a path that is not a folder is logged with its setting', async () => {
  writeFileSync(join(directory, 'dead-letters'), '');
  const files = { ...settings, data: { directory }, store: { ...settings.store, kind: 'file' } };
  const failure = await openDeadLetters(files, { warn: () => {} })
    .park(letter(1))
    .catch((error: unknown) => error);
  expect(failure).toMatchObject({
    diagnosis: { setting: 'DATA_DIRECTORY', todo: 'must be a folder that the user of the process can write to' },
  });
});
