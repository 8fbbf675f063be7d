import { printable } from './text.ts';

/** What a check has found about one thing. */
export interface Finding {
  /** What was looked at: `event endpoint`. */
  readonly what: string;
  readonly mark: Mark;
  /** Without secrets. */
  readonly found: string;
  /** What to do; absent when all is well. */
  readonly todo?: string;
  /** Another machine does not answer, which may pass: no fault of the settings or credentials. */
  readonly isOutage?: boolean;
}

type Mark = 'ok' | 'warning' | 'failure';

/** Of the check, unless it says of what. */
export type Found = Omit<Finding, 'what'> & { readonly what?: string };

/** What is well, in words, or what is not. */
export type Said = string | Found | readonly (string | Found)[];

const marked = (mark: Mark) => (found: string, todo: string) => ({ mark, found, todo });
export const doubt = marked('warning');
export const fault = marked('failure');
export const away = (found: string, todo: string): Found => ({ ...fault(found, todo), isOutage: true });

/** Looks at one thing and changes nothing that lasts (D375). */
type Check = { readonly what: string; look(): Promise<Said> };

/**
 * Runs checks together. Yields what they find in their order.
 * @param limitMs the longest that one may take
 */
export async function* runChecks(checks: readonly Check[], limitMs = 20_000): AsyncGenerator<Finding> {
  const running = checks.map((check) => findingsOf(check, limitMs));
  for (const findings of running) yield* await findings;
}

async function findingsOf({ what, look }: Check, limitMs: number): Promise<readonly Finding[]> {
  const late = away(`no answer within ${limitMs / 1000} s`, 'look at the network between, or wait');
  let timer: NodeJS.Timeout | undefined;
  const limit = new Promise<Said>((resolve) => {
    timer = setTimeout(resolve, limitMs, late);
  });
  const failed = (error: unknown) =>
    fault(error instanceof Error ? error.message : String(error), 'this check has failed itself');
  return findingsIn(what, await Promise.race([look().catch(failed), limit]).finally(() => clearTimeout(timer)));
}

export const findingsIn = (what: string, said: Said): readonly Finding[] =>
  [said].flat().map((one) => (typeof one === 'string' ? { what, mark: 'ok', found: one } : { what, ...one }));

const signs: Readonly<Record<Mark, string>> = { ok: '✓', warning: '!', failure: '✗' };

interface ReportOptions {
  /** One JSON document at the end instead of a line for each finding. */
  readonly isJson: boolean;
  /** Of a container that starts before the program: an outage warns, and warnings are no reason to wait (D375). */
  readonly isInit: boolean;
  /** Takes secrets out of a text: answers of other machines may quote what was sent. */
  readonly cover: (text: string) => string;
  readonly write: (text: string) => void;
}

export function createReport({ isJson, isInit, cover, write }: ReportOptions) {
  const began = performance.now();
  const findings: Finding[] = [];
  const shown = (text: string) => printable(cover(text));

  return {
    add({ isOutage = false, ...given }: Finding) {
      const mark = isInit && isOutage ? 'warning' : given.mark;
      const finding = { ...given, mark, found: shown(given.found), ...(given.todo && { todo: shown(given.todo) }) };
      findings.push(finding);
      if (!isJson) write(`${lineOf(finding)}\n`);
    },
    /** Writes the end. Returns the exit code: 0 when all is well, 1 after a failure, 2 when there are only warnings (D375). */
    end(): number {
      const count = (of: Mark) => findings.filter(({ mark }) => mark === of).length;
      const seconds = ((performance.now() - began) / 1000).toFixed(1);
      const exitCode = count('failure') > 0 ? 1 : count('warning') > 0 && !isInit ? 2 : 0;
      const counts = (['ok', 'warning', 'failure'] as const).map((mark) => `${count(mark)} ${signs[mark]}`);
      if (isJson) write(`${JSON.stringify({ exitCode, seconds: Number(seconds), findings }, null, 1)}\n`);
      else write(`${counts.join('  ')}  in ${seconds} s\n`);
      return exitCode;
    },
  };
}

const lineOf = ({ what, mark, found, todo }: Finding): string =>
  `${signs[mark]} ${what}: ${found}${todo === undefined ? '' : ` → ${todo}`}`;
