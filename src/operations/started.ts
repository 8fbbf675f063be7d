import { buildBefore, type DurableText, type StartedBuild } from '../hub/stores/buildRecord.ts';
import type { LogLines } from '../log/log.ts';
import { storeFieldsOf } from '../storage/storeFailure.ts';

/** Writes the line `program.started`, with the build before this one. Never rejects, and nothing waits for it. */
export async function logStarted(
  record: DurableText,
  { version, build }: Pick<StartedBuild, 'version' | 'build'>,
  log: LogLines,
): Promise<void> {
  const own = { version, build };
  try {
    const before = await buildBefore(record, { ...own, since: new Date().toISOString() });
    log.info({ ...own, before }, 'started');
  } catch (error) {
    log.info({ ...own, err: error, ...storeFieldsOf(error) }, 'started');
  }
}
