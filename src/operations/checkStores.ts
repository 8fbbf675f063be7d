import { randomUUID } from 'node:crypto';
import { type Finding, failure, ok, warning } from '@device-messaging/telemetry/check.ts';
import { type AccountAccess, accessOf } from '../access/access.ts';
import { type StoreLocation, storeFailureOf } from '../observing/storeFailure.ts';
import type { MethodsSettings, Settings } from '../settings/config.ts';
import { placeOf } from '../settings/derived.ts';
import { type CallLimits, openContainer, StorageError } from '../stores/account.ts';
import { createFileStorage } from '../stores/methodFiles.ts';
import { failed } from './failed.ts';

const limits: CallLimits = { attemptMs: 5_000, attempts: 2, pauseMs: 200 };
/** Of all requests of one check together. */
const trialMs = 15_000;
const folder = 'check/';
/** An interrupted trial leaves its blob, which a later one deletes. */
const leftoverMs = 10 * 60_000;

/** The rights that a container needs, and what its account must not have: that each checkpoint leaves a version behind. */
export async function checkContainer(
  what: string,
  of: 'checkpoints' | 'deadLetters',
  settings: Settings,
  account: AccountAccess = accessOf(settings).account(of),
): Promise<Finding[]> {
  const isOfCheckpoints = of === 'checkpoints';
  try {
    return await tryContainer(what, account, settings[of].container, isOfCheckpoints);
  } catch (error) {
    const place = placeOf(settings[of], settings.store, isOfCheckpoints ? 'CHECKPOINTS' : 'DEAD_LETTERS');
    return [findingOf(what, error, place)];
  }
}

/**
 * Creates a blob of its own under `check/`, writes, lists, reads and deletes it. Makes the container if it is not there, as the
 * service does.
 * @param isOfCheckpoints which need no right to delete
 * @throws StorageError
 */
async function tryContainer(
  what: string,
  account: AccountAccess,
  container: string,
  isOfCheckpoints: boolean,
): Promise<Finding[]> {
  const { client: clientNow, attempt, ensureContainer } = openContainer({ account, container }, what, limits);
  const client = clientNow();
  const by = performance.now() + trialMs;
  const path = `${folder}${randomUUID()}`;
  const blob = client.getBlockBlobClient(path);
  const write = (doing: string, conditions: object) =>
    attempt(doing, by, (abortSignal) => blob.upload('check', 5, { conditions, abortSignal }));

  async function isTaken(conditions: object): Promise<boolean> {
    const answer = await write('writing under a condition', conditions).catch((error: StorageError) => error);
    if (!(answer instanceof StorageError)) return true;
    if (answer.status !== 409 && answer.status !== 412) throw answer;
    return false;
  }

  async function listAndTidy(abortSignal: AbortSignal): Promise<void> {
    for await (const { name, properties } of client.listBlobsFlat({ prefix: folder, abortSignal })) {
      const ageMs = Date.now() - properties.lastModified.getTime();
      if (ageMs > leftoverMs) await client.deleteBlob(name, { abortSignal }).catch(() => undefined);
    }
  }

  const unconditional = failure(
    what,
    'writes whose condition does not hold are taken',
    'use an account of Azure Blob Storage: several instances need these conditions',
  );
  const doubts: string[] = [];
  let left: StorageError | undefined;

  await ensureContainer(by);
  const { etag } = await write('creating a blob', { ifNoneMatch: '*' });
  try {
    if (await isTaken({ ifNoneMatch: '*' })) return [unconditional];
    const { versionId } = await write('writing', { ifMatch: etag });
    if (await isTaken({ ifMatch: etag })) return [unconditional];
    await attempt('listing', by, listAndTidy);
    await attempt('reading', by, (abortSignal) => blob.getProperties({ abortSignal }));
    // A signature for the container alone does not show it.
    const seen = await client
      .getAccountInfo({ abortSignal: AbortSignal.timeout(limits.attemptMs) })
      .catch(() => undefined);
    if (versionId !== undefined) doubts.push('keeps versions: each checkpoint leaves one behind, which costs money');
    if (seen?.isHierarchicalNamespaceEnabled) doubts.push('has a hierarchical namespace: checkpoints are slower there');
  } finally {
    left = await attempt('deleting', by, (abortSignal) => blob.deleteIfExists({ abortSignal })).then(
      () => undefined,
      (error: StorageError) => error,
    );
  }
  if (left !== undefined && !(isOfCheckpoints && left.status === 403)) throw left;
  const end = left === undefined ? 'read and deleted' : `and read; may not delete, so ${path} stays`;
  const done = ok(what, `a blob was created, written under conditions, listed, ${end} in ${container}`);
  const advice = 'keep checkpoints in an account without it (CHECKPOINTS_CONNECTION_STRING)';
  const matter = isOfCheckpoints ? doubts : [];
  return [done, ...matter.map((doubt) => warning(what, `the account ${doubt}`, advice))];
}

/** The container of files for methods: the front door looks a file up and signs for it. */
export async function checkFiles(settings: MethodsSettings): Promise<Finding[]> {
  const { files, store } = settings;
  const storage = createFileStorage({ account: accessOf(settings).account('files'), ...files });
  const result = await storage.sign('check/none', 60, AbortSignal.timeout(trialMs));
  if (result.kind !== 'unavailable')
    return [ok('files', `the container ${files.container} answers, and its files can be signed for`)];
  return [findingOf('files', result.error, placeOf(files, { ...store, kind: 'blob' }, 'METHODS_FILES'))];
}

function findingOf(what: string, error: unknown, place: StoreLocation): Finding {
  const told = storeFailureOf(error, place);
  if (told === undefined) throw error;
  const { message, diagnosis } = told;
  const { storeSaid: cause } = diagnosis;
  const isAnswer = told.fault === 'refused';
  return failed(what, message.replace(/ failed: .*/, `: ${cause}`), { ...diagnosis, isAnswer, cause });
}
