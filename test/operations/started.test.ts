import { expect, it } from 'vitest';
import type { DurableText } from '../../src/hub/stores/buildRecord.ts';
import { thisBuild, versionOfBuild } from '../../src/operations/build.ts';
import { logStarted } from '../../src/operations/started.ts';
import { StoreFailure } from '../../src/storage/storeFailure.ts';
import { recordingLog } from '../support/observed.ts';

const access = { events: 'key' };
const own = { version: '1.1.0', build: 'b' };

/** The line of a program that has started, with this record of builds. */
async function lineWith(record: DurableText) {
  const log = recordingLog();
  await logStarted(record, own, access, log);
  return log.lines;
}

it('the line about a start has the build, its access to Azure, and the build before; the record has both builds', async () => {
  const before = { version: '1.0.0', build: 'a', since: '2026-01-01T01:00:00.000Z' };
  const written: string[] = [];
  const lines = await lineWith({
    read: async () => ({ text: JSON.stringify([before]), etag: '1' }),
    write: async (text) => written.push(text) > 0,
  });
  expect(lines).toEqual([{ level: 'info', message: 'started', fields: { ...own, access, before } }]);
  expect(JSON.parse(written.join())).toEqual([{ ...own, since: expect.stringMatching(/^20.*Z$/) }, before]);
});

it('the line about a start says what to do when the record of builds cannot be reached', async () => {
  const diagnosis = { setting: 'DATA_DIRECTORY', storeSaid: 'EACCES', todo: 'must be a folder' };
  const err = new StoreFailure('no access', 'refused', diagnosis);
  const lines = await lineWith({ read: () => Promise.reject(err), write: async () => true });
  expect(lines).toEqual([{ level: 'info', message: 'started', fields: { ...own, access, err, ...diagnosis } }]);
});

const { version } = thisBuild({});

it('the version for metrics and spans has the commit behind the version', () =>
  expect(versionOfBuild({ BUILD_COMMIT: 'aaa1111' })).toBe(`${version}+aaa1111`));
it('the version for metrics and spans is the version alone while no commit is known', () =>
  expect(versionOfBuild({})).toBe(version));
