import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { relative } from 'node:path';
import { Stryker } from '@stryker-mutator/core';

/** A small change of a file, as StrykerJS tells of it. */
export interface Mutant {
  readonly fileName: string;
  readonly mutatorName: string;
  readonly replacement: string;
  /** Lines and columns begin with 1; `end` is behind the last character. */
  readonly location: { readonly start: Place; readonly end: Place };
  readonly status: 'Killed' | 'Timeout' | 'Survived' | 'NoCoverage' | 'Ignored' | 'RuntimeError' | 'CompileError';
  /** Whether it is computed once, when the file is loaded. */
  readonly static?: boolean;
}

interface Place {
  readonly line: number;
  readonly column: number;
}

/**
 * Changes the files in every small way, and runs the tests for each change.
 *
 * @param onFile called for each file as soon as all of its changes are tried
 * @throws Error when a test fails without a change
 */
export async function measure(
  files: readonly string[],
  testFiles: readonly string[],
  onFile: (file: string, mutants: readonly Mutant[]) => void,
): Promise<void> {
  const left = new Map<string, number>(files.map((file) => [file, 0]));
  const tried = new Map<string, Mutant[]>(files.map((file) => [file, []]));
  const nameOf = ({ fileName }: Pick<Mutant, 'fileName'>) => relative(process.cwd(), fileName);

  function tell(file: string): void {
    if (left.get(file) === 0) onFile(file, tried.get(file) ?? []);
  }
  function onPlan(mutants: unknown): void {
    for (const mutant of mutants as readonly Mutant[]) left.set(nameOf(mutant), (left.get(nameOf(mutant)) ?? 0) + 1);
    files.forEach(tell);
  }
  function onMutant(message: unknown): void {
    const mutant = message as Mutant;
    const file = nameOf(mutant);
    tried.get(file)?.push(mutant);
    left.set(file, (left.get(file) ?? 0) - 1);
    tell(file);
  }

  subscribe('mutation.planned', onPlan);
  subscribe('mutation.tested', onMutant);
  try {
    await new Stryker({ mutate: [...files], testFiles: [...testFiles] }).runMutationTest();
  } finally {
    unsubscribe('mutation.planned', onPlan);
    unsubscribe('mutation.tested', onMutant);
  }
}
