import type { Outcome } from './run.ts';

const columns: readonly (readonly [head: string, of: (outcome: Outcome) => string])[] = [
  ['scenario', ({ name }) => name],
  ['unread, median', ({ unread }) => seconds(unread.median)],
  ['worst', ({ unread }) => seconds(unread.worst)],
  ['most behind', ({ mostBehind }) => seconds(mostBehind)],
  ['caught up after', ({ caughtUp }) => seconds(caughtUp)],
  ['handled again', ({ work }) => (work.repeats === 0 ? '0' : `${work.repeats} of ${work.sent}`)],
  ['storage requests a second', ({ storage }) => `${storage.mean.toFixed(0)}, at most ${storage.most}`],
  ['questions to the hub a second', ({ mostQuestions }) => `at most ${mostQuestions}`],
  ['settled after', ({ seconds: whole }) => seconds(whole)],
];

const seconds = (value: number) => `${value < 10 ? value.toFixed(1) : value.toFixed(0)} s`;

/** What a scenario has shown, in a line of its own. */
export const lineOf = (outcome: Outcome): string =>
  columns.map(([head, of], index) => (index === 0 ? `${of(outcome)}:` : `${head} ${of(outcome)},`)).join(' ');

/** A Markdown table with a line for each scenario. */
export function tableOf(outcomes: readonly Outcome[]): string {
  const lines = [columns.map(([head]) => head), ...outcomes.map((outcome) => columns.map(([, of]) => of(outcome)))];
  const widths = columns.map((_, index) => Math.max(...lines.map((line) => line[index]?.length ?? 0)));
  const line = (cells: readonly string[]) =>
    `| ${cells.map((cell, index) => cell.padEnd(widths[index] ?? 0)).join(' | ')} |`;
  const [head = [], ...body] = lines;
  return [line(head), `|${widths.map((width) => '-'.repeat(width + 2)).join('|')}|`, ...body.map(line)].join('\n');
}
