import { readFileSync } from 'node:fs';
import type { InputSeries } from './series.ts';

export const recordingFolder = 'test/deploy/fixtures';

export const recordingFile = (name: string): string => `${recordingFolder}/${name.replaceAll(' ', '-')}.json`;

export const readRecording = (name: string): { readonly scrapes: number; readonly series: readonly InputSeries[] } =>
  JSON.parse(readFileSync(recordingFile(name), 'utf8'));
