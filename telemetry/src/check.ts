import { type ProxyFailure, proxyAdvice } from './outbound.ts';
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

export type Mark = 'ok' | 'warning' | 'failure';

export const ok = (what: string, found: string): Finding => ({ what, mark: 'ok', found });

export const warning = (what: string, found: string, todo: string): Finding => ({
  what,
  mark: 'warning',
  found,
  todo,
});

export const failure = (what: string, found: string, todo: string): Finding => ({
  what,
  mark: 'failure',
  found,
  todo,
});

export const outage = (what: string, found: string, todo: string): Finding => ({
  ...failure(what, found, todo),
  isOutage: true,
});

/** A proxy that refuses does so until its rules change, or the credentials. */
export function proxyFinding(what: string, where: string, { code, message }: ProxyFailure): Finding {
  const isRefusal = code === 'EPROXYAUTH' || code === 'EPROXYREFUSED';
  return (isRefusal ? failure : outage)(what, `${where}: ${message}`, proxyAdvice[code]);
}

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

const signs: Readonly<Record<Mark, string>> = { ok: '✓', warning: '!', failure: '✗' };

/** What a check of a deployment says at its end. */
export interface Report {
  add(finding: Finding): void;
  /** Writes the end. Returns the exit code: 0 when all is well, 1 after a failure, 2 when there are only warnings (D375). */
  end(): number;
}

interface ReportOptions {
  /** One JSON document at the end instead of a line for each finding. */
  readonly isJson: boolean;
  /** Of a container that starts before the program: an outage warns, and warnings are no reason to wait (D375). */
  readonly isInit: boolean;
  /** Takes secrets out of a text: answers of other machines may quote what was sent. */
  readonly cover: (text: string) => string;
  readonly write: (text: string) => void;
  /** Now, as `performance.now()`. */
  readonly now: () => number;
}

export function createReport({ isJson, isInit, cover, write, now }: ReportOptions): Report {
  const began = now();
  const findings: Finding[] = [];

  const shown = (text: string) => printable(cover(text));

  return {
    add({ isOutage = false, ...given }) {
      const mark = isInit && isOutage ? 'warning' : given.mark;
      const finding = { ...given, mark, found: shown(given.found), ...(given.todo && { todo: shown(given.todo) }) };
      findings.push(finding);
      if (!isJson) write(`${lineOf(finding)}\n`);
    },
    end() {
      const count = (of: Mark) => findings.filter(({ mark }) => mark === of).length;
      const seconds = ((now() - began) / 1000).toFixed(1);
      const code = count('failure') > 0 ? 1 : count('warning') > 0 && !isInit ? 2 : 0;
      if (isJson) write(`${JSON.stringify({ exitCode: code, seconds: Number(seconds), findings }, null, 1)}\n`);
      else
        write(
          `${(['ok', 'warning', 'failure'] as const).map((mark) => `${count(mark)} ${signs[mark]}`).join('  ')}  in ${seconds} s\n`,
        );
      return code;
    },
  };
}

const lineOf = ({ what, mark, found, todo }: Finding): string =>
  `${signs[mark]} ${what}: ${found}${todo === undefined ? '' : ` → ${todo}`}`;
