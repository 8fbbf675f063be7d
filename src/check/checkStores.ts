import { type Finding, failure, ok, outage, warning } from 'telemetry/check/finding.ts';
import { createFileStorage } from '../hub/methods/fileStorage.ts';
import { accessOf } from '../identity/access.ts';
import { isLasting, type StoreLocation, storeFailureOf } from '../observing/diagnosis.ts';
import type { MethodsSettings, Settings } from '../settings/config.ts';
import { placeOf } from '../settings/derived.ts';
import { tryContainer, UnconditionalStorage } from '../storage/containerTrial.ts';

/** Of all requests of one check together. */
const trialMs = 15_000;

/** The rights that a container needs, and what its account must not have: that each checkpoint leaves a version behind. */
export async function checkContainer(
  what: string,
  of: 'checkpoints' | 'deadLetters',
  settings: Settings,
): Promise<Finding[]> {
  const { container } = settings[of];
  const name = of === 'checkpoints' ? 'CHECKPOINTS' : 'DEAD_LETTERS';
  const setting = placeOf(settings[of], settings.store, name);
  try {
    const mustDelete = name === 'DEAD_LETTERS';
    const account = accessOf(settings).account(of);
    const trial = await tryContainer({ account, container, mustDelete, name: what, withinMs: trialMs });
    const end = trial.left === undefined ? 'read and deleted' : `and read; may not delete, so ${trial.left} stays`;
    const done = ok(what, `a blob was created, written under conditions, listed, ${end} in ${container}`);
    return name === 'CHECKPOINTS' ? [done, ...doubtsOf(what, trial)] : [done];
  } catch (error) {
    if (error instanceof UnconditionalStorage)
      return [
        failure(what, error.message, 'use an account of Azure Blob Storage: several instances need these conditions'),
      ];
    return [findingOf(what, error, setting)];
  }
}

function doubtsOf(
  what: string,
  { keepsVersions, isHierarchical }: Awaited<ReturnType<typeof tryContainer>>,
): Finding[] {
  const advice = 'keep checkpoints in an account without it (CHECKPOINTS_CONNECTION_STRING)';
  return [
    ...(keepsVersions
      ? [warning(what, 'the account keeps versions: each checkpoint leaves one behind, which costs money', advice)]
      : []),
    ...(isHierarchical
      ? [warning(what, 'the account has a hierarchical namespace: checkpoints are slower there', advice)]
      : []),
  ];
}

/** The container of files for methods: the front door looks a file up and signs for it. */
export async function checkFiles(settings: MethodsSettings): Promise<Finding[]> {
  const { files, store } = settings;
  const what = 'files';
  const { container, maxBytes } = files;
  const storage = createFileStorage({ account: accessOf(settings).account('files'), container, maxBytes });
  const result = await storage.sign('check/none', 60, AbortSignal.timeout(trialMs));
  if (result.kind !== 'unavailable')
    return [ok(what, `the container ${container} answers, and its files can be signed for`)];
  return [findingOf(what, result.error, placeOf(files, { ...store, kind: 'blob' }, 'METHODS_FILES'))];
}

function findingOf(what: string, error: unknown, place: StoreLocation): Finding {
  const told = storeFailureOf(error, place);
  if (told === undefined) throw error;
  const { setting, storeSaid, todo } = told.diagnosis;
  const found = `${told.message === storeSaid ? '' : `${told.message.replace(/ failed: .*/, '')}: `}${storeSaid} (${setting})`;
  return told.fault === 'refused' || isLasting(storeSaid) ? failure(what, found, todo) : outage(what, found, todo);
}
