import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { bodyLimits, memberOf, parseJson, readJson, textIn, untilRepeated } from '../../src/protocol/json.ts';
import { keysOf } from '../../src/protocol/jsonKeys.ts';
import { MalformedJson } from '../../src/protocol/jsonLimits.ts';
import { withCountedEffort } from '../support/effort.ts';

const effort = withCountedEffort();

/** Printed by fast-check when a property fails. */
const runs = { numRuns: 2_000 };

const isAccepted = (read: () => unknown): boolean => {
  try {
    read();
    return true;
  } catch {
    return false;
  }
};

function agrees(text: string): void {
  expect([text, isAccepted(() => parseJson(text))]).toEqual([text, isAccepted(() => JSON.parse(text))]);
}

/** What parsers have got wrong before. */
const classics = [
  ...[
    '',
    ' ',
    '\t',
    '\n',
    '\r',
    '\v',
    '\f',
    '\u00a0',
    '\u2028',
    '\ufeff',
    '\0',
    'nul',
    'nulll',
    'NULL',
    'tru',
    'truee',
  ],
  ...['0', '-0', '00', '01', '-01', '-', '+1', '1.', '.5', '-.5', '1.e1', '1e', '1e+', '1e-', '1E5', '1e05', '1e+05'],
  ...['0x10', '1_000', 'Infinity', '-Infinity', 'NaN', '1e400', '-1e-400', '0.0', '0e0', '1.0E-2', '1 2', '1,', '--1'],
  ...['""', '"', '"a', 'a"', "'a'", '"\\"', '"\\""', '"\\\\"', '"\\\\\\"', '"\\a"', '"\\u"', '"\\u12"', '"\\u12g4"'],
  ...['"\\u0000"', '"\\uD800"', '"\\uDC00\\uD800"', '"\\UD800"', '"\\b\\f\\n\\r\\t\\/"', '"\t"', '"\n"', '"\u007f"'],
  ...[
    '"\u2028"',
    '"\u0000"',
    '"\u001f"',
    '"😀"',
    '"é"',
    '[]',
    '[',
    ']',
    '[,]',
    '[1,]',
    '[,1]',
    '[1 2]',
    '[1,,2]',
    '[1]]',
  ],
  ...[
    '[[]',
    '[]]',
    '[}',
    '{]',
    '{}',
    '{',
    '}',
    '{,}',
    '{"a"}',
    '{"a":}',
    '{"a":1,}',
    '{,"a":1}',
    '{"a":1 "b":2}',
    '{a:1}',
    '{a":1}',
  ],
  ...['{"a":1,"a":2}', '{"a"::1}', '{"a":1}}', '{1:1}', '{"":""}', ' [ 1 , { "a" : [ ] } ] ', '{"a":/**/1}', '// a\n1'],
  ...[
    '[1,2',
    '{"a":1',
    '{"a":[1,{"b":"c',
    '[true,false,null]',
    '[truefalse]',
    '"a""b"',
    '{"a":"b"c}',
    '[1]1',
    '{}{}',
    '[ ]\0',
  ],
  ...['[\r1\r,\t1\n]', '{\t"a"\r:\n1}', '"\tn"', '"\n\\"', '"\0/"'],
  ...['"\\u00AF"', '"\\u00af"', '"\\u00:0"', '"\\u00@0"', '"\\u000G"', '"\\u000`"', '"\\u000g"', '"\\u000/"'],
];

describe('a duplicate key', () => {
  const read = (text: string, limits = untilRepeated) => parseJson(text, keysOf(['a', 'b']), limits);

  it('ends the read when only duplicates matter', () => {
    for (const rest of [' x', ',"b":1}', ',,', '']) expect([...read(`{"a":1,"c":2,"a":3${rest}`).twice]).toEqual(['a']);
    expect(() => read('{"a":1,"a":2}x', bodyLimits)).toThrow('is not well-formed JSON');
  });
  it('is searched up to the end of the text', () => {
    expect(read(' {"a":1,"c":1,"c":2,"b":2} ').twice.size).toBe(0);
    expect(() => read('{"a":1,"b":2}x')).toThrow('is not well-formed JSON, see character 14');
  });
});

it.each([
  ['[1,', 'it ends too early'],
  ['{"a', 'it ends too early'],
  ['nul', 'it ends too early'],
  ['[1,x]', 'see character 4'],
  ['[1,nulx]', 'see character 7'],
  ['1x', 'see character 2'],
])('the fault of %s is reported: %s', (text, why) =>
  expect(() => parseJson(text)).toThrow(new MalformedJson(`is not well-formed JSON, ${why}`)),
);

describe('a text of any shape', () => {
  it.each([
    ['many values', `[${'1,'.repeat(130_000)}1]`],
    ['many members', `{${'"":1,'.repeat(50_000)}"":1}`],
    ['a long key', `{"${'k'.repeat(260_000)}":1}`],
    ['a long number', `[${'1'.repeat(260_000)}]`],
    ['a long fraction and exponent', `[1.${'1'.repeat(130_000)}e${'1'.repeat(130_000)}]`],
  ])('is read once, as it may have %s {S1.4}', (_what, text) => {
    readJson(Buffer.from(text), keysOf([]), bodyLimits);
    expect(effort.characters).toBe(text.length);
  });

  it('is read once, blanks and all', () => {
    const text = ` ${JSON.stringify({ type: 'pump', '\n': ['\\"', 1.5e300, { type: [[]] }] })}\n`;
    const json = readJson(Buffer.from(text), keysOf(['type', '\n']), bodyLimits);
    expect(effort.characters).toBe(text.length);
    memberOf(json, '\n');
    expect(effort.characters).toBe(text.length + (textIn(json, '\n') ?? '').length);
  });
});

describe('the reader accepts what JSON.parse accepts', () => {
  it.each(classics)('%j', agrees);

  it('for any JSON text in any layout', () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.nat(4), (value, indent) => agrees(JSON.stringify(value, undefined, indent))),
      runs,
    );
  });

  it('and refuses the same damaged texts', () => {
    const damage = fc.tuple(fc.nat(), fc.nat(2), fc.constantFrom(...'{}[]",:\\/0123456789eE+-.tfnu \n\0é'));
    fc.assert(
      fc.property(fc.jsonValue(), fc.array(damage, { minLength: 1, maxLength: 3 }), (value, damages) => {
        let text = JSON.stringify(value);
        for (const [at, length, put] of damages) {
          const place = at % (text.length + 1);
          text = text.slice(0, place) + put + text.slice(place + length);
        }
        agrees(text);
      }),
      { numRuns: 10_000 },
    );
  });

  it('and refuses the same texts of structural characters', () => {
    const characters = fc.constantFrom(
      '{',
      '}',
      '[',
      ']',
      '"',
      ',',
      ':',
      '1',
      '0',
      '-',
      '.',
      'e',
      'null',
      ' ',
      '\\',
      'a',
    );
    fc.assert(
      fc.property(fc.array(characters, { maxLength: 8 }), (parts) => agrees(parts.join(''))),
      { numRuns: 20_000 },
    );
  });
});

describe('the requested members', () => {
  const name = fc.oneof(
    fc.constantFrom(
      'type',
      'typ',
      'types',
      'version',
      '',
      't',
      'ty',
      'größe',
      'größ',
      '😀',
      '\\',
      '"',
      '\n',
      '__proto__',
    ),
    fc.string({ unit: 'binary', maxLength: 3 }),
  );
  /** The same key in some spelling. */
  const spelled = (key: string, escapes: readonly boolean[]) =>
    `"${Array.from({ length: key.length }, (_, index) =>
      escapes[index % Math.max(1, escapes.length)]
        ? `\\u${key.charCodeAt(index).toString(16).padStart(4, '0')}`
        : JSON.stringify(key[index]).slice(1, -1),
    ).join('')}"`;
  const member = fc.tuple(name, fc.array(fc.boolean(), { maxLength: 3 }), fc.jsonValue({ maxDepth: 2 }));
  const wellFormed = (text: string) => text.isWellFormed();

  it('are found at their positions in any escaping, and the others are only counted', () => {
    fc.assert(
      fc.property(fc.array(member, { maxLength: 12 }), fc.array(name, { maxLength: 8 }), (members, wanted) => {
        const given = members.map(([key, escapes, value]) => `${spelled(key, escapes)} : ${JSON.stringify(value)}`);
        const text = ` {${given.join(' ,\n')}} `;
        fc.pre(wellFormed(text));
        const keys = wanted.filter(wellFormed);
        const json = parseJson(text, keysOf(keys));
        const names = members.map(([key]) => key);
        const expected = new Map(members.map(([key, , value]) => [key, JSON.stringify(value)] as const));
        expect(json.size).toBe(members.length);
        expect([...json.members.keys()].sort()).toEqual([...new Set(keys)].filter((key) => expected.has(key)).sort());
        for (const key of json.members.keys()) expect([key, textIn(json, key)]).toEqual([key, expected.get(key)]);
        expect([...json.twice].sort()).toEqual(
          [...new Set(keys)].filter((key) => names.filter((one) => one === key).length > 1).sort(),
        );
      }),
      runs,
    );
  });

  it('are not confused with half a surrogate pair and another character', () => {
    expect([...parseJson('{"\\ud800\\u0041":1}', keysOf(['\u2441'])).members.keys()]).toEqual([]);
    expect([...parseJson('{"\\ud83d\\ude00":1}', keysOf(['😀'])).members.keys()]).toEqual(['😀']);
  });

  it.each([
    '\u007f',
    '\u0080',
    '\u07ff',
    '\u0800',
    '\uffff',
    '\ue000',
    '\u{10000}',
    '\u{103ff}',
    '\u{10fc00}',
    '\u{10ffff}',
  ])('are found when their byte length differs: %j in escapes', (key) => {
    const written = Array.from(
      { length: key.length },
      (_, at) => `\\u${key.charCodeAt(at).toString(16).padStart(4, '0')}`,
    );
    const text = `{"${written.join('')}":1}`;
    const others = ['\u007e', '\u0081', '\u07fe', '\u0801', '\ufffe', '\u{10001}', '\u{10fffe}'];
    expect([...parseJson(text, keysOf([key, ...others])).members.keys()]).toEqual([key]);
  });

  it.each([
    '\\ud800\\udbff',
    '\\ud800\\ue000',
    '\\ud800',
    '\\udc00\\udc00',
    '\\ud800\\n',
    '\\ud800xudc00',
    '\\ud800\\ndc00',
    '\\u0041\\udc78',
    '\\ue800\\udc00',
  ])('are not found in a key that is not valid Unicode: %s', (written) => {
    const near = ['\ufffd', '\u{10000}', '\u{ffff}', '\u{10400}', '\ufffd\ufffd', '\ue000', '\udc00', '', 'x'];
    expect([...parseJson(`{"${written}":1}`, keysOf(near)).members.keys()]).toEqual([]);
  });

  it.each([
    ['\\u0041xxdc00', 'Axxdc00'],
    ['\\u0041\\\\dc00', 'A\\dc00'],
    ['\\ud7ff\\ue000', '\ud7ff\ue000'],
  ])('are found when only an apparent half of a surrogate pair follows: %s', (written, key) =>
    expect([...parseJson(`{"${written}":1}`, keysOf([key, 'x'])).members.keys()]).toEqual([key]),
  );

  it('are empty when the requested name is not valid Unicode', () =>
    expect(parseJson('{"\ufffd":1,"\\ud800":2}', keysOf(['\ud800'])).members.size).toBe(0));

  it('have their number of values, themselves included', () => {
    const { members } = parseJson('{"a":[1,{"b":[2,3]},[]],"c":"d","e":{}}');
    expect([...members].map(([key, { values }]) => [key, values])).toEqual([
      ['a', 7],
      ['c', 1],
      ['e', 1],
    ]);
  });

  it('are those of the outermost object only', () => {
    const json = parseJson('{"parent":{"type":1},"list":[{"type":2}]}', keysOf(['type', 'parent']));
    expect([...json.members.keys()]).toEqual(['parent']);
    expect(memberOf(json, 'parent')?.members.has('type')).toBe(true);
  });

  it('do not include names over 1,024 bytes, in any escaping', () => {
    const keys = keysOf([1_023, 1_024, 1_025].map((length) => 'x'.repeat(length)));
    const found = (key: string) => [...parseJson(`{"${key}":1}`, keys).members.keys()].map(({ length }) => length);
    for (const first of ['x', '\\u0078']) {
      const lengths = [1_024, 1_025, 1_026].map((length) => found(first + 'x'.repeat(length - 1)));
      expect(lengths).toEqual([[1_024], [], []]);
    }
  });

  it('are distinguished even if some have the same hash', () => {
    const names = Array.from({ length: 200_000 }, (_, index) => `${Math.imul(index, 0x9e3779b1)} ${index}`);
    const json = parseJson(`{${names.map((key, index) => `"${key}":${index}`).join()}}`, keysOf(names));
    const wrong = names.filter((key, index) => textIn(json, key) !== String(index));
    expect([wrong, json.members.size]).toEqual([[], names.length]);
  });

  it('may be any number, with a common prefix or without', () => {
    const names = Array.from({ length: 2_000 }, (_, index) => `${'x'.repeat(500)}${index}`);
    const text = JSON.stringify(Object.fromEntries(names.map((key) => [key, 1])));
    expect(parseJson(text, keysOf([...names.slice(1), 'absent'])).members.size).toBe(1_999);
  });
});
