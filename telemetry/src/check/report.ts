import { printable } from '../printable.ts';
import type { Finding, Mark } from './finding.ts';

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
