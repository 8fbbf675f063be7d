import { readFileSync } from 'node:fs';
import type { InputSeries } from './series.ts';

export const recordingFolder = 'test/deploy/fixtures';

export const recordingFile = (name: string): string => `${recordingFolder}/${name.replaceAll(' ', '-')}.txt`;

export interface Recording {
  readonly scrapes: number;
  readonly series: readonly InputSeries[];
}

/** A line with the number of scrapes, then a line for each series: its name, a tab, its values. */
export const print = ({ scrapes, series }: Recording): string =>
  [`${scrapes} scrapes`, ...series.map(({ series, values }) => `${series}\t${values}`), ''].join('\n');

export function readRecording(name: string): Recording {
  const [first = '', ...lines] = readFileSync(recordingFile(name), 'utf8').trimEnd().split('\n');
  const series = lines.map((line) => {
    const [series = '', values = ''] = line.split('\t');
    return { series, values };
  });
  return { scrapes: Number.parseInt(first, 10), series };
}
