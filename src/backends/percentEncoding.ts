import { isSegment } from '../protocol/fields.ts';
import { Rejection } from '../protocol/rejection.ts';

/**
 * Builds a path with its query: path`/objects/${id}/models/${model}?owner=${owner}`. Every value is percent-encoded.
 * @throws Error for values that encoding does not make safe: `.`, `..`, half a surrogate pair. Callers check ids when they arrive (P5).
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

const maxHeaderBytes = 512;

/** Percent-encodes a value for a header and cuts it to 512 bytes, never inside a character. */
export function headerValue(value: string): string {
  const encoded = encode(value);
  if (encoded.length <= maxHeaderBytes) return encoded;
  let cut = '';
  for (const character of value) {
    const next = encode(character);
    if (cut.length + next.length > maxHeaderBytes) break;
    cut += next;
  }
  return cut;
}

/** The device id as a header. A shortened id would name another device, so a longer one is rejected. @throws Rejection validation_error */
export function deviceHeader(deviceId: string): string {
  const encoded = encode(deviceId);
  if (encoded.length <= maxHeaderBytes) return encoded;
  throw new Rejection('validation_error', `the device id is longer than ${maxHeaderBytes} bytes when percent-encoded`);
}

const encode = (value: string): string =>
  /^[\w.-]*$/.test(value) ? value : encodeURIComponent(value.replace(/\p{Surrogate}/gu, '\ufffd'));
