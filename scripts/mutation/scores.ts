import { createHash } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import type { Mutant } from './measure.ts';

const path = 'test/mutation/scores.json';

/** What came of a file. */
export interface Score {
  readonly file: string;
  /** Day of the measurement, in UTC. */
  readonly measured: string;
  /** Of the code that was measured, without its comments. */
  readonly hash?: string;
  /** How many changes were tried. */
  readonly changes: number;
  /** How many changes were not tried, because the code runs only once, when the file is loaded. */
  readonly atLoad?: number;
  /** How many changes were not tried, because a comment in the file says so, or because no quick test reaches any. */
  readonly off?: number;
  /** How many changes no test noticed. */
  readonly survivors: number;
  /** Why they may stay. */
  readonly reasons?: readonly Reason[];
}

export interface Reason {
  /** As they were when the file was measured. */
  readonly lines: string;
  /** What was there, and what took its place. */
  readonly change?: string;
  /** Empty: not judged yet. */
  readonly why: string;
}

/** Sorted by file. Those of files that have gone are left out. */
export function readScores(): Score[] {
  const { files } = JSON.parse(readFileSync(path, 'utf8')) as { files: Score[] };
  return files.filter(({ file }) => existsSync(file));
}

/** Keeps the score, instead of an earlier one of its file. */
export function keepScore(score: Score): void {
  const others = readScores().filter(({ file }) => file !== score.file);
  const files = [...others, score].sort((one, other) => (one.file < other.file ? -1 : 1));
  writeFileSync(path, `${JSON.stringify({ files }, null, 2)}\n`);
}

/** Whether the code is that of its score. */
export const isCurrent = (file: string, scores: readonly Score[]): boolean =>
  scores.some((score) => score.file === file && score.hash === hashOf(readFileSync(file, 'utf8')));

/** Lines of comments do not count: they change no score. */
function hashOf(text: string): string {
  const code = text.split('\n').filter((line) => !/^\s*(\/\/|\/\*|\*)/.test(line));
  return createHash('sha256').update(code.join('\n')).digest('hex').slice(0, 16);
}

/** The score of a file of which these changes were made; reasons are those that were given before for the same changes. */
export function scoreOf(file: string, text: string, mutants: readonly Mutant[], before?: Score): Score {
  const count = (...statuses: readonly Mutant['status'][]) =>
    mutants.filter(({ status }) => statuses.includes(status)).length;
  const isReached = count('Killed', 'Timeout', 'Survived') > 0;
  const survivors = mutants.filter(({ status }) => isReached && (status === 'Survived' || status === 'NoCoverage'));
  const atLoad = mutants.filter((mutant) => mutant.status === 'Ignored' && mutant.static).length;
  const off = count('Ignored') - atLoad + (isReached ? 0 : count('NoCoverage'));
  const given = [...(before?.reasons ?? [])];
  const reasons = survivors
    .map((mutant) => ({ line: mutant.location.start.line, change: changeOf(text, mutant) }))
    .sort((one, other) => one.line - other.line)
    .map(({ line, change }): Reason => {
      const at = given.findIndex((reason) => reason.change === change);
      const [same] = at < 0 ? [] : given.splice(at, 1);
      return { lines: String(line), change, why: same?.why ?? '' };
    });
  return {
    file,
    measured: new Date().toISOString().slice(0, 10),
    hash: hashOf(text),
    changes: count('Killed', 'Timeout') + survivors.length,
    ...(atLoad > 0 && { atLoad }),
    ...(off > 0 && { off }),
    survivors: survivors.length,
    ...(reasons.length > 0 && { reasons }),
  };
}

function changeOf(text: string, { location: { start, end }, replacement }: Mutant): string {
  const lines = text.split('\n').slice(start.line - 1, end.line);
  const last = lines.length - 1;
  lines[last] = (lines[last] ?? '').slice(0, end.column - 1);
  lines[0] = (lines[0] ?? '').slice(start.column - 1);
  return `${short(lines.join(' '))} → ${short(replacement) || '(nothing)'}`;
}

function short(text: string): string {
  const line = text.replace(/\s+/g, ' ').trim();
  return line.length > 60 ? `${line.slice(0, 60)}…` : line;
}
