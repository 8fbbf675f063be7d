import { isSegment } from '../protocol/fields.ts';

/**
 * Builds a path with its query: path`/objects/${id}/models/${model}?owner=${owner}`. Every value is percent-encoded.
 * @throws Error for values that encoding does not make safe: `.` and `..` change a path even as `%2e`, and text with half
 * a surrogate pair has no UTF-8. Callers check ids when they arrive from devices and backends (P5).
 */
export function path(literals: TemplateStringsArray, ...values: readonly string[]): string {
  let built = literals[0] as string;
  for (const [index, value] of values.entries()) {
    const inQuery = built.endsWith('=');
    if (inQuery ? !value.isWellFormed() : !isSegment(value)) throw new Error('an id cannot be put into a path');
    built += encodeURIComponent(value) + literals[index + 1];
  }
  return built;
}
