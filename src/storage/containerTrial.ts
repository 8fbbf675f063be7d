import { randomUUID } from 'node:crypto';
import type { ContainerClient } from '@azure/storage-blob';
import type { AccountAccess } from '../identity/access.ts';
import { containerIn } from './containerIn.ts';
import { type CallLimits, createStorageCalls, type StorageError } from './storageCalls.ts';

/** What a container has shown while it was tried. */
export interface ContainerTrial {
  /** The account keeps every version of a blob. */
  readonly keepsVersions: boolean;
  /** The account has a hierarchical namespace; undefined when the connection string may not see that. */
  readonly isHierarchical: boolean | undefined;
  /** The blob that stays, because the connection string may not delete. */
  readonly left: string | undefined;
}

interface TrialOptions {
  readonly account: AccountAccess;
  readonly container: string;
  /** The right to delete is needed. */
  readonly mustDelete: boolean;
  /** Of the container in errors. */
  readonly name: string;
  readonly withinMs: number;
}

/** The account takes writes whose condition does not hold. */
export class UnconditionalStorage extends Error {
  override readonly name = 'UnconditionalStorage';
}

const folder = 'check/';
/** An interrupted trial leaves its blob, which a later one deletes. */
const leftoverMs = 10 * 60_000;

const limits: CallLimits = { attemptMs: 5_000, attempts: 2, pauseMs: 200 };

/**
 * Creates a blob of its own under `check/`, writes, lists, reads and deletes it. Makes the container if it is not there, as the
 * service does.
 * @throws StorageError, UnconditionalStorage
 */
export async function tryContainer({
  account,
  container,
  mustDelete,
  name,
  withinMs,
}: TrialOptions): Promise<ContainerTrial> {
  const tried = containerIn(account, container);
  const { attempt, ensureContainer } = createStorageCalls(tried, name, limits);
  const client = tried.client();
  const by = performance.now() + withinMs;
  const path = `${folder}${randomUUID()}`;
  const blob = client.getBlockBlobClient(path);
  const upload = (conditions: object, abortSignal: AbortSignal) => blob.upload('check', 5, { conditions, abortSignal });

  /** @throws UnconditionalStorage */
  async function checkRefused(conditions: object): Promise<void> {
    const isTaken = await attempt('writing under a condition', by, (abortSignal) =>
      upload(conditions, abortSignal).then(
        () => true,
        (error) => {
          if (error.statusCode !== 409 && error.statusCode !== 412) throw error;
          return false;
        },
      ),
    );
    if (isTaken) throw new UnconditionalStorage('writes whose condition does not hold are taken');
  }

  async function seen(etag: string | undefined): Promise<Omit<ContainerTrial, 'left'>> {
    await checkRefused({ ifNoneMatch: '*' });
    const changed = await attempt('writing', by, (abortSignal) => upload({ ifMatch: etag }, abortSignal));
    await checkRefused({ ifMatch: etag });
    await attempt('listing', by, async (abortSignal) => {
      for await (const { name, properties } of client.listBlobsFlat({ prefix: folder, abortSignal })) {
        const ageMs = Date.now() - properties.lastModified.getTime();
        if (ageMs > leftoverMs) await client.deleteBlob(name, { abortSignal }).catch(() => undefined);
      }
    });
    await attempt('reading', by, (abortSignal) => blob.getProperties({ abortSignal }));
    return { keepsVersions: changed.versionId !== undefined, isHierarchical: await isHierarchicalIn(client) };
  }

  const remove = () =>
    attempt('deleting', by, (abortSignal) => blob.deleteIfExists({ abortSignal })).then(
      () => undefined,
      (error: StorageError) => {
        if (mustDelete || error.status !== 403) throw error;
        return path;
      },
    );

  await ensureContainer(by);
  const created = await attempt('creating a blob', by, (abortSignal) => upload({ ifNoneMatch: '*' }, abortSignal));
  let trial: Omit<ContainerTrial, 'left'>;
  try {
    trial = await seen(created.etag);
  } catch (error) {
    await remove().catch(() => undefined);
    throw error;
  }
  return { ...trial, left: await remove() };
}

/** A signature for the container alone does not show it. */
const isHierarchicalIn = (client: ContainerClient): Promise<boolean | undefined> =>
  client.getAccountInfo({ abortSignal: AbortSignal.timeout(limits.attemptMs) }).then(
    ({ isHierarchicalNamespaceEnabled }) => isHierarchicalNamespaceEnabled,
    () => undefined,
  );
