import { describe, expect, it } from 'vitest';
import { createRedaction } from '../../src/observing/redaction.ts';

const key = 'c2VjcmV0LWtleS1vZi10aGUtaHViLTEyMw==';
const token = 'eyJhbGciOiJSUzI1NiJ9.eyJzdWIiOiJzZXJ2aWNlIn0.q5-sIgNaTuRe_w7';
const clientSecret = 'p+ss/wörd of client';
const redact = createRedaction([key, clientSecret, 'tiny']);
const knowing = createRedaction([key, clientSecret, 'tiny', token]);
const base64 = (text: string) => Buffer.from(text).toString('base64');

describe.each<[string, (words: string) => string]>([
  ['token of the request', (words) => redact(words, token)],
  ['secret of the settings', (words) => knowing(words, 'another-token-1')],
])('a redacted text has no part of our secrets, with a %s', (_, redact) => {
  it.each([
    ['the token', `no: ${token}!`, 'no: …!'],
    ['in another case of letters', `no: ${token.toUpperCase()}!`, 'no: …!'],
    ['a key of the hub', `key ${key} is bad`, 'key … is bad'],
    ['percent-encoded', `secret=${encodeURIComponent(clientSecret)}&x`, 'secret=…&x'],
    ['percent-encoded in lower case', `s=${encodeURIComponent(clientSecret).toLowerCase()}&x`, 's=…&x'],
    ['in base64', `got ${base64(clientSecret).replace(/..=*$/, '')} here`, 'got … here'],
    ['in base64 for URLs', `got ${Buffer.from(token).toString('base64url').slice(0, -1)} here`, 'got … here'],
    ['cut at its end', `Bearer ${token.slice(0, 8)}`, 'Bearer …'],
    ['cut at its end, and marked as cut', `Bearer ${token.slice(0, 15)}--- was refused`, 'Bearer …--- was refused'],
    ['cut at its beginning', `…${token.slice(-12)} was refused`, '…… was refused'],
    ['in base64 and cut', `got ${base64(key).slice(0, 11)}`, 'got …'],
    ['twice', `${token} ${token}`, '… …'],
    ['a short one', `the word is TINY`, 'the word is …'],
    ['cut so short that it could be any word', `Bearer ${token.slice(0, 7)}`, `Bearer ${token.slice(0, 7)}`],
  ])('%s', (_, words, expected) => expect(redact(words)).toBe(expected));

  it.each([0, 1, 2, 3, 4, 5])('in base64 behind %i other characters', (before) => {
    const encoded = base64(`${'x'.repeat(before)}${token}y`);
    const left = redact(encoded).replace('…', '');
    expect(encoded.length - left.length).toBeGreaterThan(encoded.length - 14);
  });
});

describe('a redacted text has no part of a request’s token', () => {
  it('whatever tokens earlier requests had', () =>
    expect([redact('another-token-1', 'another-token-1'), redact(token, token)]).toEqual(['…', '…']));

  it.each([
    ['a short one', 'the word is ABC', 'abc', 'the word is …'],
    ['one that would change in an address', 't=abc%2Bdef%2fghi%3D&u', 'abc+def/ghi=', 't=…&u'],
    ['one with characters that change in neither', 't=abc-def_ghi~x.y', 'abc-def_ghi~x.y', 't=…'],
    ['nothing of it', 'a text of 100 % and %zz', token, 'a text of 100 % and %zz'],
  ])('%s', (_, words, ofRequest, expected) => expect(redact(words, ofRequest)).toBe(expected));

  it('in any encoding and cut anywhere', () => {
    const base64Forms = [0, 1, 2].flatMap((before) => {
      const text = base64(`${'x'.repeat(before)}${token}`)
        .slice(before && before + 1)
        .replace(/.?=*$/, '');
      return [text, text.replaceAll('+', '-').replaceAll('/', '_')];
    });
    for (const form of [token, ...base64Forms]) {
      for (let from = 0; from + 8 <= form.length; from += 1) {
        const left = redact(`(${encodeURIComponent(form.slice(from, from + 8))})`, token);
        const expected = [expect.anything(), expect.stringMatching(/^\(.{0,2}….?\)$/)];
        expect([form.slice(from, from + 8), left]).toEqual(expected);
      }
    }
  });
});

describe('a redacted text quotes no value of the request’s body', () => {
  const body = JSON.stringify({
    type: 'pump',
    note: 'a much longer text, which the backend has cut somewhere',
    properties: { serial: 'A1', owner: 'Müller & Söhne', count: 1234567890, small: 7, 'line\nfeed': 'x\ny"z' },
  });
  it.each([
    ['a short one in quotation marks', 'property "serial" has the value "A1"', 'property "serial" has the value "…"'],
    ['in other quotation marks', "'A1' «A1» “A1” `A1`", "'…' «…» “…” `…`"],
    ['a short one without is a word like any other', 'A1 of pump', 'A1 of pump'],
    ['a longer one anywhere', 'Müller & Söhne is known already', '… is known already'],
    ['a number', 'count: "1234567890", or 1234567890; "7" and 7', 'count: "…", or …; "…" and 7'],
    ['one that was cut', 'note "a much longer text, which the bac…" is too long', 'note "……" is too long'],
    ['one with escapes', "got 'x\ny\"z'", "got 'x\ny\"z'"],
    ['a key is no value', 'unknown property "properties"', 'unknown property "properties"'],
    ['nothing to take out', 'Version mismatch: stored version 3', 'Version mismatch: stored version 3'],
  ])('%s', (_, words, expected) => expect(redact(words, token, body)).toBe(expected));

  it.each([
    ['inside', '{"name" : "M\\u00fcller-Stra\\u00DFe"}'],
    ['at its beginning', '{"name" : "\\u004düller-Straße"}'],
  ])('in any escaping, %s', (_, escaped) => expect(redact('name Müller-Straße', token, escaped)).toBe('name …'));

  it.each([
    ['as short as a value can be anywhere', 'it is abcdefgh', '{"a":"abcdefgh"}', 'it is …'],
    ['a negative number', 'small: "-7"', '{"small":-7}', 'small: "…"'],
    ['numbers with sign, point and exponent', 'in -12.5E+100 to 12.5e-1000', '[-12.5E+100,12.5e-1000]', 'in … to …'],
    ['with quotation marks inside', 'say "hello world" now!', '["say \\"hello world\\" now"]', '…!'],
    ['with one first', '"hello world" it is', '["\\"hello world\\" it is"]', '…'],
    ['with a line feed first', 'bad \nhello world!', '["\\nhello world"]', 'bad …!'],
    ['no key before a space', 'unknown property "properties"', '{"properties" :1}', 'unknown property "properties"'],
  ])('also one of another kind: %s', (_, words, body, expected) => expect(redact(words, token, body)).toBe(expected));

  it('but true, false and null are not treated as values', () =>
    expect(redact('the word "e" is no number', token, '[true,false,null,1e5]')).toBe('the word "e" is no number'));
});

it('redaction has a linear cost, whatever a device and a backend write', () => {
  const ordinary = { words: 'Version mismatch', body: JSON.stringify({ a: 'x'.repeat(500_000) }) };
  const hostile = [
    { words: 'a'.repeat(5_000_000), body: `[${Array(50_000).fill('"aaaaaaaa"').join()}]` },
    { words: 'a'.repeat(2_000), body: `["${'a'.repeat(500_000)}"]` },
    { words: 'property of', body: `[${Array.from({ length: 40_000 }, (_, i) => `"property${i}"`).join()}]` },
    { words: '"1" "2" '.repeat(250), body: `[${Array(250_000).fill('1').join()}]` },
    { words: '\\'.repeat(2_000), body: `["${'\\\\'.repeat(250_000)}"]` },
    { words: '"'.repeat(2_000), body: `["${'\\"'.repeat(250_000)}"]` },
    { words: 'x', body: '"'.repeat(500_001) },
  ];
  const cost = ({ words, body }: { words: string; body: string }) => {
    const began = process.cpuUsage();
    redact(words, token, body);
    const { user, system } = process.cpuUsage(began);
    return (user + system) / 1_000;
  };
  cost(ordinary);
  // Steps, not seconds, are what is bounded: a quadratic one would take minutes.
  expect(Math.max(...hostile.map(cost))).toBeLessThan(2_000);
});
