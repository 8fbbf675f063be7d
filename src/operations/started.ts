import { buildBefore, type DurableText, type StartedBuild } from '../hub/stores/buildRecord.ts';
import type { LogLines } from '../log/log.ts';
import { storeFieldsOf } from '../storage/storeFailure.ts';

/**
 * Writes the line `program.started`, with the build before this one. Never rejects, and nothing waits for it.
 * @param access what is used, and by what (D365)
 */
export async function logStarted(
  record: DurableText,
  { version, build }: Pick<StartedBuild, 'version' | 'build'>,
  access: object,
  log: LogLines,
): Promise<void> {
  const own = { version, build };
  try {
    const before = await buildBefore(record, { ...own, since: new Date().toISOString() });
    log.info({ ...own, access, before }, 'started');
  } catch (error) {
    log.info({ ...own, access, err: error, ...storeFieldsOf(error) }, 'started');
  }
}
