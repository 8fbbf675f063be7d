import { describe, expect, it } from 'vitest';
import { deviceHeader, headerValue } from '../../src/backends/percentEncoding.ts';
import { Rejection } from '../../src/protocol/rejection.ts';

describe('the value of a header', () => {
  it.each([
    ['512 bytes', 'a'.repeat(512), 'a'.repeat(512)],
    ['513 bytes', 'a'.repeat(513), 'a'.repeat(512)],
    ['a character that ends with byte 512', `${'a'.repeat(506)}éb`, `${'a'.repeat(506)}%C3%A9`],
    ['a character that ends with byte 513', `${'a'.repeat(507)}éb`, 'a'.repeat(507)],
    ['half a surrogate pair', 'a\ud800b', 'a%EF%BF%BDb'],
  ])('is encoded, and cut between characters: %s', (_, value, header) => expect(headerValue(value)).toBe(header));

  it('is never a part of a device id', () => {
    expect(deviceHeader('a'.repeat(512))).toBe('a'.repeat(512));
    const tooLong = new Rejection('validation_error', 'the device id is longer than 512 bytes when percent-encoded');
    expect(() => deviceHeader('a'.repeat(513))).toThrow(tooLong);
  });
});
