import { z } from 'zod';

/** A build that has started, and when that build first did, as an ISO date. */
export interface StartedBuild {
  readonly version: string;
  /** The commit. */
  readonly build: string;
  readonly since: string;
}

/** A small text that lasts, one for each namespace, hub and consumer group. Methods reject when it cannot be reached. */
export interface DurableText {
  /** Undefined when there is none. */
  read(): Promise<{ readonly text: string; readonly etag: string } | undefined>;
  /**
   * @param etag of the text to be replaced; undefined when there must be none
   * @returns whether it was written; false when another instance has changed it first
   */
  write(text: string, etag: string | undefined): Promise<boolean>;
}

/** The first is that of the start that was last; the second is the last other one before. */
const recordFormat = z.array(z.object({ version: z.string(), build: z.string(), since: z.string() })).max(2);

/** Attempts while other instances start at the same time. */
const mostRaces = 5;

/**
 * Records that this build starts, if the last start was of another one. A record that cannot be understood is replaced.
 * @returns the last other build that has started, on any instance; undefined when none is known
 */
export async function buildBefore(record: DurableText, own: StartedBuild): Promise<StartedBuild | undefined> {
  for (let race = 0; race < mostRaces; race += 1) {
    const found = await record.read();
    const [last, earlier] = startedIn(found?.text ?? '');
    if (last?.version === own.version && last.build === own.build) return earlier;
    const next = last === undefined ? [own] : [own, last];
    if (await record.write(JSON.stringify(next), found?.etag)) return last;
  }
  throw new Error('the record of builds keeps being changed by other instances');
}

function startedIn(text: string): readonly StartedBuild[] {
  try {
    return recordFormat.parse(JSON.parse(text));
  } catch {
    return [];
  }
}
