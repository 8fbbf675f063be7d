import type { Inputs } from '../backends/methodsOfType.ts';
import { listed } from '../protocol/details.ts';
import { Failure } from './failure.ts';
import { fileNameFault } from './fileName.ts';

/** Longer names are cut when they are repeated. */
const longestName = 64;

/** Why a value is none of a data type, as the end of a sentence; undefined when it is one. Other types pass (M4). */
const faults: Readonly<Record<string, (value: unknown) => string | undefined>> = {
  string: (value) => (typeof value === 'string' ? undefined : 'must be a string'),
  integer: (value) => (Number.isSafeInteger(value) ? undefined : 'must be an integer within ±(2^53−1)'),
  number: (value) => (Number.isFinite(value) ? undefined : 'must be a number'),
  boolean: (value) => (typeof value === 'boolean' ? undefined : 'must be true or false'),
  file: fileNameFault,
};

/**
 * Holds the input of an invocation against what the method declares (M4).
 * @throws Failure invalid_request, naming up to ten inputs
 */
export function checkInputs(input: Readonly<Record<string, unknown>>, declared: Inputs | undefined): void {
  const found = Object.entries(input).flatMap(([name, value]) => {
    const dataType = declared?.get(name);
    if (dataType === undefined) return [`input ${shown(name)} is not declared by the method`];
    const check = Object.hasOwn(faults, dataType) ? faults[dataType] : unkeepable;
    const fault = check?.(value);
    return fault === undefined ? [] : [`input ${shown(name)} ${fault}`];
  });
  if (found.length > 0) throw new Failure('invalid_request', listed(found));
}

/** A value of a type that we do not know travels as a JavaScript value: a number that changes on the way is refused (D41). */
function unkeepable(value: unknown): string | undefined {
  if (typeof value === 'number') {
    const isKept = Number.isInteger(value) ? Number.isSafeInteger(value) : Number.isFinite(value);
    return isKept ? undefined : 'has a number that is not kept exactly; use a string';
  }
  if (typeof value !== 'object' || value === null) return undefined;
  for (const member of Object.values(value)) {
    const fault = unkeepable(member); // as deep as a body may be nested
    if (fault !== undefined) return fault;
  }
  return undefined;
}

/** The inputs that are files, each with the name that is given for it. */
export const filesIn = (input: Readonly<Record<string, unknown>>, declared: Inputs | undefined): [string, string][] =>
  Object.entries(input).flatMap(([name, value]) =>
    declared?.get(name) === 'file' && typeof value === 'string' ? [[name, value] as [string, string]] : [],
  );

const shown = (name: string): string => {
  const plain = name.replace(/[\p{C}\p{Zl}\p{Zp}]/gu, '\ufffd');
  return JSON.stringify(plain.length <= longestName ? plain : `${plain.slice(0, longestName).toWellFormed()}…`);
};
