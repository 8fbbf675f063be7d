import { Rejection } from '../rejection.ts';

/**
 * Builds a path with its query: path`/objects/${id}/models/${model}?owner=${owner}`. Every value is percent-encoded, and
 * refused where encoding cannot keep it in its place: `.` and `..` change a path even as `%2e`, and text with half a
 * surrogate pair has no UTF-8.
 * @throws Rejection validation_error
 */
export function path(literals: TemplateStringsArray, ...values: readonly string[]): string {
  let built = literals[0] as string;
  for (const [index, value] of values.entries()) {
    const inQuery = built.endsWith('=');
    if (/\p{Surrogate}/u.test(value)) throw unusable('text that is not Unicode');
    if (!inQuery && (value === '' || value === '.' || value === '..')) throw unusable(`"${value}"`);
    built += encodeURIComponent(value) + literals[index + 1];
  }
  return built;
}

const unusable = (what: string) => new Rejection('validation_error', `an identifier cannot be ${what}`);
