import { execFileSync } from 'node:child_process';
import { reachedFrom } from '../../test/support/imports.ts';
import { testFilesReaching } from '../mutants/reaching.ts';

/** What is different since a commit, committed or not. */
export interface Change {
  /** Full hash. */
  readonly commit: string;
  readonly files: ReadonlySet<string>;
  /** Whether one of the files is in one of these folders, or is one of these files. */
  touches(...places: readonly string[]): boolean;
  /**
   * Whether a fault in the file can be noticed then and not be noticed now: the file is another, or one of the tests that are nearest to the
   * fault, or something that only tests load.
   */
  concerns(file: string, fault: string): boolean;
}

/** Of the tests that load a file, those that are asked first: these notice nearly everything. */
const nearest = 10;
const ofTests = /^(test|sandbox|iot-hub-emulator\/(test|src))\//;
const ofTrials = ['scripts/mutants/', 'scripts/mutants.ts', 'vitest.config.ts', 'package-lock.json'];

/** @throws Error when the commit is not known here */
export function changedSince(commit: string): Change {
  const lines = (args: readonly string[]) =>
    execFileSync('git', args, { encoding: 'utf8' }).split('\n').filter(Boolean);
  return changeOf(commit, [
    ...lines(['diff', '--name-only', '--no-renames', commit]),
    ...lines(['ls-files', '--others', '--exclude-standard']),
  ]);
}

export function changeOf(commit: string, names: readonly string[]): Change {
  const files = new Set(names);
  const touched = new Map<string, boolean>();
  const isTouched = (testFile: string): boolean => {
    const known =
      touched.get(testFile) ?? [...reachedFrom(testFile)].some((file) => ofTests.test(file) && files.has(file));
    touched.set(testFile, known);
    return known;
  };
  const touches = (...places: readonly string[]) =>
    names.some((name) => places.some((place) => name.startsWith(place)));
  return {
    ...{ commit, files, touches },
    concerns: (file, fault) =>
      touches(...ofTrials, file) || testFilesReaching(file, fault).slice(0, nearest).some(isTouched),
  };
}
