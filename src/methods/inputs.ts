import type { DeclaredInputs } from '../backends/methodDeclarations.ts';
import { listed, quoted } from '../protocol/rejection.ts';
import { Failure } from './failure.ts';
import { fileNameProblem } from './fileName.ts';

const wholeNumber = 'must be an integer within ±(2^53−1)';

/** Why a value does not fit a data type, as the end of a sentence; undefined when it does (M4). */
const checks: Readonly<Record<string, (value: unknown) => string | undefined>> = {
  string: (value) => (typeof value === 'string' ? undefined : 'must be a string'),
  integer: (value) => (Number.isSafeInteger(value) ? undefined : wholeNumber),
  number: (value) => (Number.isFinite(value) ? undefined : 'must be a number'),
  boolean: (value) => (typeof value === 'boolean' ? undefined : 'must be true or false'),
  file: fileNameProblem,
};

/**
 * Checks the input of an invocation against the declaration of the method (M4). Values of other data types pass.
 * @param rounded inputs whose number is a whole one only because it was rounded
 * @throws Failure invalid_request that names up to ten inputs
 */
export function checkInputs(
  input: Readonly<Record<string, unknown>>,
  declared: DeclaredInputs | undefined,
  rounded: ReadonlySet<string>,
): void {
  const problems = Object.entries(input).flatMap(([name, value]) => {
    const dataType = declared?.get(name);
    if (dataType === undefined) return [`input ${quoted(name)} is not declared by the method`];
    const check = Object.hasOwn(checks, dataType) ? checks[dataType] : undefined;
    const problem = dataType === 'integer' && rounded.has(name) ? wholeNumber : check?.(value);
    return problem === undefined ? [] : [`input ${quoted(name)} ${problem}`];
  });
  if (problems.length > 0) throw new Failure('invalid_request', listed(problems));
}

/** The inputs that are files, each with its file name. */
export const filesIn = (
  input: Readonly<Record<string, unknown>>,
  declared: DeclaredInputs | undefined,
): [string, string][] =>
  Object.entries(input).flatMap(([name, value]) =>
    declared?.get(name) === 'file' && typeof value === 'string' ? [[name, value] as [string, string]] : [],
  );
