import type { DeclaredInputs } from '../backends/methodDeclarations.ts';
import { listed } from '../protocol/details.ts';
import { Failure } from './failure.ts';
import { fileNameProblem } from './fileName.ts';

const maxNameLength = 64;

/** Why a value does not fit a data type, as the end of a sentence; undefined when it does (M4). */
const checks: Readonly<Record<string, (value: unknown) => string | undefined>> = {
  string: (value) => (typeof value === 'string' ? undefined : 'must be a string'),
  integer: (value) => (Number.isSafeInteger(value) ? undefined : 'must be an integer within ±(2^53−1)'),
  number: (value) => (Number.isFinite(value) ? undefined : 'must be a number'),
  boolean: (value) => (typeof value === 'boolean' ? undefined : 'must be true or false'),
  file: fileNameProblem,
};

/**
 * Checks the input of an invocation against the declaration of the method (M4).
 * @throws Failure invalid_request that names up to ten inputs
 */
export function checkInputs(input: Readonly<Record<string, unknown>>, declared: DeclaredInputs | undefined): void {
  const problems = Object.entries(input).flatMap(([name, value]) => {
    const dataType = declared?.get(name);
    if (dataType === undefined) return [`input ${quoted(name)} is not declared by the method`];
    const check = Object.hasOwn(checks, dataType) ? checks[dataType] : inexactNumber;
    const problem = check?.(value);
    return problem === undefined ? [] : [`input ${quoted(name)} ${problem}`];
  });
  if (problems.length > 0) throw new Failure('invalid_request', listed(problems));
}

/** Values of other types pass, except numbers that JavaScript cannot represent exactly (D41). */
function inexactNumber(value: unknown): string | undefined {
  if (typeof value === 'number') {
    const isExact = Number.isInteger(value) ? Number.isSafeInteger(value) : Number.isFinite(value);
    return isExact ? undefined : 'has a number that cannot be represented exactly; use a string';
  }
  if (typeof value !== 'object' || value === null) return undefined;
  for (const member of Object.values(value)) {
    const problem = inexactNumber(member); // the limits of a body bound the depth
    if (problem !== undefined) return problem;
  }
  return undefined;
}

/** The inputs that are files, each with its file name. */
export const filesIn = (
  input: Readonly<Record<string, unknown>>,
  declared: DeclaredInputs | undefined,
): [string, string][] =>
  Object.entries(input).flatMap(([name, value]) =>
    declared?.get(name) === 'file' && typeof value === 'string' ? [[name, value] as [string, string]] : [],
  );

const quoted = (name: string): string => {
  const plain = name.replace(/[\p{C}\p{Zl}\p{Zp}]/gu, '\ufffd');
  return JSON.stringify(plain.length <= maxNameLength ? plain : `${plain.slice(0, maxNameLength).toWellFormed()}…`);
};
