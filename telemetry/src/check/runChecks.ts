import { type Finding, failure, outage } from './finding.ts';

/** Looks at one thing and changes nothing that lasts (D375). */
export interface Check {
  /** For the line when it does not end. */
  readonly what: string;
  look(): Promise<readonly Finding[]>;
}

/** The longest that one check may take. */
const checkMs = 20_000;

/** Runs checks together. Yields what they find in their order. */
export async function* runChecks(checks: readonly Check[], limitMs = checkMs): AsyncGenerator<Finding> {
  const running = checks.map((check) => findingsOf(check, limitMs));
  for (const findings of running) yield* await findings;
}

async function findingsOf({ what, look }: Check, limitMs: number): Promise<readonly Finding[]> {
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
