import type { Answer } from './client.ts';
import { isFailure, type Outcome, type Result } from './run.ts';

const mostCharacters = 600;
const cut = (text: string) =>
  text.length > mostCharacters ? `${text.slice(0, mostCharacters)}… (${text.length} characters)` : text;

/** Request and answer, tokens covered. */
function exchangeOf({ request, status, headers, text, failure }: Answer) {
  const token = /^Bearer (.+)$/.exec(request.headers['authorization'] ?? '')?.[1];
  const covered = (words: string) => (token === undefined ? words : words.replaceAll(token, '…'));
  return {
    request: {
      ...{ method: request.method, path: request.path },
      headers: Object.fromEntries(Object.entries(request.headers).map(([name, value]) => [name, covered(value)])),
      ...(request.body !== undefined && { body: cut(covered(String(request.body))) }),
    },
    answer: failure === undefined ? { status, headers, body: cut(covered(text)) } : { failure },
  };
}

const marks = { holds: '✓', broken: '✗', 'not tried': '–' } as const;

/** A rule for people: a line if it holds, all that a backend's developer needs if not. */
export function resultText({ rule, outcome, why, shown }: Result): string {
  const line = `${marks[outcome]} ${rule.id.padEnd(24)} ${rule.says}`;
  if (outcome === 'holds') return line;
  if (outcome === 'not tried') return `${line}\n    not tried: ${why}`;
  const lines = [line, `    ${rule.level}: ${why}`, `    so: ${rule.otherwise}`];
  if (shown !== undefined) {
    const { request, answer } = exchangeOf(shown);
    lines.push(`    > ${request.method} ${request.path}`);
    for (const [name, value] of Object.entries(request.headers)) lines.push(`    > ${name}: ${value}`);
    if (request.body) lines.push(`    > ${request.body}`);
    lines.push(answer.failure === undefined ? `    < ${answer.status} ${answer.body}` : `    < ${answer.failure}`);
  }
  return lines.join('\n');
}

const count = ({ results }: Outcome, outcome: Result['outcome'], level?: string) =>
  results.filter((result) => result.outcome === outcome && (level ?? result.rule.level) === result.rule.level).length;

/** What the run came to, and what it leaves. */
export function summaryText(outcome: Outcome): string {
  const { run, left, spent, results } = outcome;
  const levels = (['must', 'should', 'nice'] as const).map((level) => `${count(outcome, 'broken', level)} ${level}`);
  const why = new Map<string, number>();
  for (const result of results) if (result.outcome === 'not tried') why.set(result.why, (why.get(result.why) ?? 0) + 1);
  const objects =
    left.objects.length > 0
      ? `, ${left.objects.length} objects with names that begin so: ${left.objects.join(' ')}`
      : '';
  const types = left.types.length > 0 ? left.types.join(', ') : 'no types';
  return [
    `${count(outcome, 'holds')} rules hold, ${count(outcome, 'broken')} do not (${levels.join(', ')}), ${count(outcome, 'not tried')} were not tried.`,
    ...Array.from(why, ([reason, times]) => `  ${times} not tried: ${reason}`),
    `What stays of ${run}: ${types}${objects}.`,
    ...(spent.length > 0 ? [`Used up, so that the next run needs others: ${spent.join(', ')}.`] : []),
  ].join('\n');
}

/** For programs. */
export function jsonReport({ run, results, left, spent }: Outcome): object {
  return {
    run,
    left,
    spent,
    rules: results.map(({ rule: { id, level, says, otherwise }, outcome, why, isBlocked, shown }) => ({
      ...{ id, level, says, outcome },
      ...(outcome !== 'holds' && { why }),
      ...(isBlocked && { isBlocked }),
      ...(outcome === 'broken' && { otherwise, ...(shown && exchangeOf(shown)) }),
    })),
  };
}

const escaped = (text: string) =>
  text
    // biome-ignore lint/suspicious/noControlCharactersInRegex: XML 1.0 has none of these
    .replace(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/g, '\ufffd')
    .replace(/[<>&"']/g, (character) => `&#${character.charCodeAt(0)};`);

/** For pipelines: JUnit. A rule that the service can live without is skipped, not failed, where it does not hold. */
export function junitReport({ run, results }: Outcome): string {
  const cases = results.map((result) => {
    const { rule, outcome, why, ms } = result;
    const name = `    <testcase classname="backends.${rule.id.split('.')[0]}" name="${escaped(`${rule.id}: ${rule.says}`)}" time="${(ms / 1000).toFixed(3)}"`;
    if (outcome === 'holds') return `${name}/>`;
    if (isFailure(result))
      return `${name}>\n      <failure message="${escaped(why)}">${escaped(resultText(result))}</failure>\n    </testcase>`;
    return `${name}>\n      <skipped message="${escaped(`${outcome === 'broken' ? rule.level : outcome}: ${why}`)}"/>\n    </testcase>`;
  });
  const failures = results.filter(isFailure).length;
  const skipped = results.filter(({ outcome }) => outcome !== 'holds').length - failures;
  const totals = `tests="${results.length}" failures="${failures}" skipped="${skipped}"`;
  return `<?xml version="1.0" encoding="UTF-8"?>\n<testsuites>\n  <testsuite name="${run}" ${totals}>\n${cases.join('\n')}\n  </testsuite>\n</testsuites>\n`;
}
