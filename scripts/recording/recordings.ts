import { readFileSync } from 'node:fs';
import type { InputSeries } from './series.ts';

export const recordingFolder = 'test/deploy/fixtures';

export const recordingFile = (name: string): string => `${recordingFolder}/${name.replaceAll(' ', '-')}.txt`;

export interface Recording {
  readonly scrapes: number;
  readonly series: readonly InputSeries[];
}

/** A line with the number of scrapes, then one for each course of values: the series that have it, and it behind a tab. */
export function print({ scrapes, series }: Recording): string {
  const courses = new Map<string, string[]>();
  for (const { series: name, values } of series) courses.set(values, [...(courses.get(values) ?? []), name]);
  const lines = [...courses].map(([values, names]) => [...names, values].join('\t'));
  return [`${scrapes} scrapes`, ...lines, ''].join('\n');
}

export function readRecording(name: string): Recording {
  const [first = '', ...lines] = readFileSync(recordingFile(name), 'utf8').trimEnd().split('\n');
  const series = lines.flatMap((line) => {
    const names = line.split('\t');
    const values = names.pop() ?? '';
    return names.map((series) => ({ series, values }));
  });
  return { scrapes: Number.parseInt(first, 10), series };
}
