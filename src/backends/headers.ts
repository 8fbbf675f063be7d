import { Rejection } from '../protocol/rejection.ts';

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

/**
 * The device id as a header. A shortened id would name another device, so a longer one is rejected.
 * @throws Rejection validation_error
 */
export function deviceHeader(deviceId: string): string {
  const encoded = encode(deviceId);
  if (encoded.length <= maxHeaderBytes) return encoded;
  throw new Rejection('validation_error', `the device id is longer than ${maxHeaderBytes} bytes when percent-encoded`);
}

const encode = (value: string): string =>
  /^[\w.-]*$/.test(value) ? value : encodeURIComponent(value.replace(/\p{Surrogate}/gu, '\ufffd'));
