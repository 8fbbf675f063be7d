import { type Finding, failure, outage } from './finding.ts';

/** Looks at one thing and changes nothing that lasts (D375). */
export interface Check {
  /** For the line when it does not end. */
  readonly what: string;
  /** The check that must succeed before, by its `what`. */
  readonly after?: string;
  look(): Promise<readonly Finding[]>;
}

/** The longest that one check may take, and those that wait for another as well: a minute has room for both. */
const checkMs = 20_000;

/** Runs checks together. Yields what they find in their order. */
export async function* runChecks(checks: readonly Check[], limitMs = checkMs): AsyncGenerator<Finding> {
  const running = new Map<string, Promise<readonly Finding[]>>();
  for (const check of checks) {
    const before = check.after === undefined ? undefined : running.get(check.after);
    running.set(check.what, findingsOf(check, before, limitMs));
  }
  for (const findings of running.values()) yield* await findings;
}

async function findingsOf(
  { what, after, look }: Check,
  before: Promise<readonly Finding[]> | undefined,
  limitMs: number,
): Promise<readonly Finding[]> {
  const failed = (await before)?.find(({ mark }) => mark === 'failure');
  if (failed !== undefined) {
    const notTried = outage(what, `not tried: “${after}” has failed`, 'mend that first');
    return [{ ...notTried, isOutage: failed.isOutage ?? false }];
  }
  const late = outage(what, `no answer within ${limitMs / 1000} s`, 'look at the network between, or wait');
  let timer: NodeJS.Timeout | undefined;
  const limit = new Promise<readonly Finding[]>((resolve) => {
    timer = setTimeout(resolve, limitMs, [late]);
  });
  try {
    return await Promise.race([look(), limit]);
  } catch (error) {
    return [failure(what, error instanceof Error ? error.message : String(error), 'this check has failed itself')];
  } finally {
    clearTimeout(timer);
  }
}
