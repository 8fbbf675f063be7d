import { parseAst } from 'rolldown/parseAst';
import { projectOf } from '../../vitest.config.ts';
import { testFilesReaching } from './reaching.ts';
import type { Runner, Seen } from './runner.ts';

/** A change of one file. */
export interface Mutant {
  readonly name: string;
  readonly file: string;
  /** Of the whole file, with the change. */
  readonly text: string;
}

/** What came of it. */
export interface Verdict {
  readonly mutant: Mutant;
  /** The first test that failed; absent when none did, or when it could not be tried. */
  readonly noticedBy?: string;
  readonly why?: string;
}

export interface Trial {
  readonly mutants: readonly Mutant[];
  /** Those that are used at the same time. */
  readonly runners: readonly Runner[];
  readonly testMs: number;
  /** For a run of one file of tests. */
  readonly fileMs: number;
  /** The tests to ask, nearest first. Default: all of `npm test` that load the file. */
  readonly testFilesFor?: (file: string) => readonly string[];
  readonly onVerdict: (verdict: Verdict) => void;
}

/**
 * Tries the changes one at a time: the tests that load the file run, the nearest first, until one fails which passes without the change. A run that
 * does not end, or whose process dies, has failed (D391).
 */
export async function tryMutants({
  mutants,
  runners,
  testMs,
  fileMs,
  testFilesFor = testFilesReaching,
  onVerdict,
}: Trial) {
  /** Whether the tests of a file pass as the code is; asked once, when they have failed with a change. */
  const passing = new Map<string, boolean>();

  async function passes(runner: Runner, testFile: string): Promise<boolean> {
    const seen = passing.get(testFile) ?? (await run(runner, [testFile])).failed === undefined;
    passing.set(testFile, seen);
    return seen;
  }

  function run(runner: Runner, testFiles: readonly string[], change?: Mutant): Promise<Seen> {
    const how = { testFiles, testMs, ...(change && { change }) };
    return runner.run(how, fileMs * testFiles.length).catch((error: Error) => ({
      failed: { testFile: testFiles.length === 1 ? (testFiles[0] ?? '') : '', title: '', why: error.message },
    }));
  }

  async function noticedBy(runner: Runner, mutant: Mutant, testFiles: readonly string[]): Promise<string | undefined> {
    for (const part of parts(testFiles)) {
      const { failed } = await run(runner, part, mutant);
      if (failed === undefined) continue;
      // Of a process that has ended nobody knows which file it was at.
      const suspects = failed.testFile === '' ? part : part.slice(part.indexOf(failed.testFile));
      for (const testFile of suspects) {
        const alone = testFile === failed.testFile ? failed : (await run(runner, [testFile], mutant)).failed;
        if (alone && (await passes(runner, testFile))) return `${testFile}: ${alone.title || alone.why}`;
      }
    }
    return undefined;
  }

  async function attempt(runner: Runner, mutant: Mutant): Promise<Verdict> {
    try {
      parseAst(mutant.text, { lang: mutant.file.endsWith('x') ? 'tsx' : 'ts' });
    } catch (error) {
      return { mutant, why: `is no code: ${(error as Error).message}` };
    }
    const testFiles = testFilesFor(mutant.file);
    if (testFiles.length === 0) return { mutant, why: 'no test loads the file' };
    const test = await noticedBy(runner, mutant, testFiles);
    return test === undefined
      ? { mutant, why: `none of ${testFiles.length} test files failed` }
      : { mutant, noticedBy: test };
  }

  const queue = mutants.values();
  await Promise.all(
    runners.map(async (runner) => {
      for (const mutant of queue) onVerdict(await attempt(runner, mutant));
    }),
  );
}

const mostTogether = 16;

/** One file alone, then more and more that may share a process: most changes are noticed by the first. */
function parts(testFiles: readonly string[]): string[][] {
  const all: string[][] = [];
  let [length, project] = [0, ''];
  for (const file of testFiles) {
    const its = projectOf(file);
    const last = all.at(-1);
    if (last && last.length < length && its === project && its !== 'isolated') last.push(file);
    else {
      all.push([file]);
      [length, project] = [Math.min(2 ** (all.length - 1), mostTogether), its];
    }
  }
  return all;
}
