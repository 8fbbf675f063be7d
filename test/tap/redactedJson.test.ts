import { describe, expect, it } from 'vitest';
import { redactedJson } from '../../src/tap/tapLines.ts';

const same = (text: string) => text;

describe('a body that is shown', () => {
  it.each([
    ['{"a": 1, "publicKey": "secret", "b": 2}', '{"a":1,"publicKey":"…","b":2}'],
    ['{"publicKey":{"x":"secret","y":["secret",{"z":1}]},"b":[1,2]}', '{"publicKey":"…","b":[1,2]}'],
    ['{"keys":["secret","secret"],"a":{"token":"secret"}}', '{"keys":"…","a":{"token":"…"}}'],
    ['[{"password":"secret"},{"password":null},"key"]', '[{"password":"…"},{"password":"…"},"key"]'],
    [String.raw`{"public\u004bey":"secret\"}","a":1}`, String.raw`{"public\u004bey":"…","a":1}`],
    ['{"key":"secret"}', '{"key":"…"}'],
    ['{"a":{"key":-1.5e3},"sig":"secret"}', '{"a":{"key":"…"},"sig":"…"}'],
    ['{"value":{"SharedAccessSignature":"secret"}}', '{"value":{"SharedAccessSignature":"…"}}'],
  ])('%s hides members with the name of a secret', (text, shown) => {
    expect(redactedJson(text, same)).toBe(shown);
    expect(redactedJson(Buffer.from(text), same)).toBe(shown);
    expect(shown).not.toContain('secret');
  });

  it('keeps numbers and texts unchanged', () => {
    const text = String.raw`{"big":12345678901234567890,"one":1.0,"text":"a\nb, {c: \"d\"}","none":null}`;
    expect(redactedJson(text, same)).toBe(text);
  });

  it('has no known secret in any text', () => {
    const scrub = (text: string) => text.replaceAll('canary', '…');
    const text = String.raw`{"note":"the c\u0061nary sings","canary":1}`;
    expect(redactedJson(text, scrub)).toBe('{"note":"the … sings","…":1}');
  });

  it.each([
    ['not JSON', '[8 bytes, not JSON]'],
    ['{"key":"secret"', '[15 bytes, not JSON]'],
    ['', '[0 bytes, not JSON]'],
    [`"${'x'.repeat(64 * 1024)}"`, `[${64 * 1024 + 2} bytes]`],
  ])('has only its size shown when it cannot be read or is too large (%#)', (text, shown) =>
    expect(redactedJson(text, same)).toBe(shown),
  );

  it('is read at any depth', () => {
    const deep = `${'['.repeat(30_000)}${']'.repeat(30_000)}`;
    expect(redactedJson(deep, same)).toBe(deep);
    expect(redactedJson(`{"key":${deep},"a":1}`, same)).toBe('{"key":"…","a":1}');
  });
});
