import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  allKeys,
  answerReader,
  bodyLimits,
  type Elements,
  type Json,
  keysOf,
  MalformedJson,
  maxJsonDepth,
  memberOf,
  parseJson,
  readJson,
  textIn,
} from '../../src/protocol/json.ts';
import { withCountedEffort } from '../support/effort.ts';

const effort = withCountedEffort();

/** Printed by fast-check when a property fails. */
const runs = { numRuns: 2_000 };

/** Reads an answer in slices of this size; says how many there were. */
function readIn(slice: number, text: string, keys = allKeys, list?: Elements) {
  const readOn = answerReader(Buffer.from(text), keys, list);
  for (let slices = 1; ; slices += 1) {
    const answer = readOn(slice);
    if (answer !== undefined) return { answer, slices };
  }
}

const key = 'data';
const ofList = keysOf([key]);

function collecting(keys = allKeys): Elements & { readonly elements: Json[] } {
  const elements: Json[] = [];
  return { key, keys, elements, take: (element) => void elements.push(element) };
}

function elementsOf(text: string, keys = allKeys): Json[] {
  const list = collecting(keys);
  readIn(1e6, `{"data":${text}}`, ofList, list);
  return list.elements;
}

function problemOf(read: () => unknown): string | undefined {
  try {
    read();
    return undefined;
  } catch (error) {
    if (error instanceof MalformedJson) return error.message;
    throw error;
  }
}

/** What parsers have got wrong before. */
const classics = [
  ...['', ' ', '\t', '\n', '\r', '\v', '\f', '\u00a0', '\u2028', '\ufeff', '\0', 'nul', 'nulll', 'NULL', 'tru'],
  ...['truee', '0', '-0', '00', '01', '-01', '-', '+1', '1.', '.5', '-.5', '1.e1', '1e', '1e+', '1e-', '1E5', '1e05'],
  ...['1e+05', '0x10', '1_000', 'Infinity', '-Infinity', 'NaN', '1e400', '-1e-400', '0.0', '0e0', '1.0E-2', '1 2'],
  ...['1,', '--1', '""', '"', '"a', 'a"', "'a'", '"\\"', '"\\""', '"\\\\"', '"\\\\\\"', '"\\a"', '"\\u"', '"\\u12"'],
  ...['"\\u12g4"', '"\\u0000"', '"\\uD800"', '"\\uDC00\\uD800"', '"\\UD800"', '"\\b\\f\\n\\r\\t\\/"', '"\t"', '"\n"'],
  ...['"\u007f"', '"\u2028"', '"\u0000"', '"\u001f"', '"😀"', '"é"', '[]', '[', ']', '[,]', '[1,]', '[,1]', '[1 2]'],
  ...['[1,,2]', '[1]]', '[[]', '[]]', '[}', '{]', '{}', '{', '}', '{,}', '{"a"}', '{"a":}', '{"a":1,}', '{,"a":1}'],
  ...['{"a":1 "b":2}', '{a:1}', '{a":1}', '{"a":1,"a":2}', '{"a"::1}', '{"a":1}}', '{1:1}', '{"":""}'],
  ...[' [ 1 , { "a" : [ ] } ] ', '{"a":/**/1}', '// a\n1', '[1,2', '{"a":1', '{"a":[1,{"b":"c', '[true,false,null]'],
  ...['[truefalse]', '"a""b"', '{"a":"b"c}', '[1]1', '{}{}', '[ ]\0', '[\r1\r,\t1\n]', '{\t"a"\r:\n1}', '"\tn"'],
  ...['"\n\\"', '"\0/"', '"\\u00AF"', '"\\u00af"', '"\\u00:0"', '"\\u00@0"', '"\\u000G"', '"\\u000`"', '"\\u000g"'],
  ...['"\\u000/"'],
];

describe('the reader accepts what JSON.parse accepts', () => {
  function agrees(text: string, slice = 1): void {
    const problem = problemOf(() => parseJson(text));
    let isJson = true;
    try {
      JSON.parse(text);
    } catch {
      isJson = false;
    }
    expect([text, problem === undefined]).toEqual([text, isJson]);
    expect([text, problemOf(() => readIn(slice, text))]).toEqual([text, problem]);
  }
  const slice = fc.integer({ min: 1, max: 40 });

  it.each(classics)('%j', (text) => agrees(text));

  it('for any JSON text in any layout', () => {
    const agreesIn = (value: unknown, indent: number, size: number) =>
      agrees(JSON.stringify(value, undefined, indent), size);
    fc.assert(fc.property(fc.jsonValue(), fc.nat(4), slice, agreesIn), runs);
  });

  it('and refuses the same damaged texts', () => {
    const damage = fc.tuple(fc.nat(), fc.nat(2), fc.constantFrom(...'{}[]",:\\/0123456789eE+-.tfnu \n\0é'));
    fc.assert(
      fc.property(fc.jsonValue(), fc.array(damage, { minLength: 1, maxLength: 3 }), slice, (value, damages, size) => {
        let text = JSON.stringify(value);
        for (const [at, length, put] of damages) {
          const place = at % (text.length + 1);
          text = text.slice(0, place) + put + text.slice(place + length);
        }
        agrees(text, size);
      }),
      { numRuns: 10_000 },
    );
  });

  it('and refuses the same texts of structural characters', () => {
    const characters = fc.constantFrom(...'{}[]",:10-.e \\a', 'null');
    fc.assert(
      fc.property(fc.array(characters, { maxLength: 8 }), (parts) => agrees(parts.join(''))),
      { numRuns: 20_000 },
    );
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

describe('the requested members', () => {
  const found = (text: string, names: Iterable<string>) => [...parseJson(text, keysOf(names)).members.keys()];
  const escaped = (unit: string) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`;
  const spelled = (key: string, escapes: readonly boolean[]) =>
    `"${key
      .split('')
      .map((unit, index) => (escapes[index % escapes.length] ? escaped(unit) : JSON.stringify(unit).slice(1, -1)))
      .join('')}"`;
  const usual = fc.constantFrom(
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
  );
  const name = fc.oneof(usual, fc.string({ unit: 'binary', maxLength: 3 }));
  const member = fc.tuple(name, fc.array(fc.boolean(), { maxLength: 3 }), fc.jsonValue({ maxDepth: 2 }));

  it('are found at their positions in any escaping, and the others are only counted', () =>
    fc.assert(
      fc.property(fc.array(member, { maxLength: 12 }), fc.array(name, { maxLength: 8 }), (members, wanted) => {
        const given = members.map(([key, escapes, value]) => `${spelled(key, escapes)} : ${JSON.stringify(value)}`);
        const text = ` {${given.join(' ,\n')}} `;
        fc.pre(text.isWellFormed());
        const json = parseJson(text, keysOf(wanted));
        const expected = new Map(members.map(([key, , value]) => [key, JSON.stringify(value)] as const));
        const there = [...new Set(wanted)].filter((key) => expected.has(key)).sort();
        expect(json.size).toBe(members.length);
        expect([...json.members.keys()].sort()).toEqual(there);
        for (const key of there) expect([key, textIn(json, key)]).toEqual([key, expected.get(key)]);
        const isTwice = (key: string) => members.filter(([one]) => one === key).length > 1;
        expect([...json.twice].sort()).toEqual(there.filter(isTwice));
      }),
      runs,
    ));

  it('are not confused with half a surrogate pair and another character', () => {
    expect(found('{"\\ud800\\u0041":1}', ['\u2441'])).toEqual([]);
    expect(found('{"\\ud83d\\ude00":1}', ['😀'])).toEqual(['😀']);
    expect(found('{"\ufffd":1,"\\ud800":2}', ['\ud800'])).toEqual(['\ud800']);
    expect(found('{"a\\n":1}', ['a\\n', 'a\ufffdn', 'a\u00ffn'])).toEqual([]);
  });

  it.each([...'\u007f\u0080\u07ff\u0800\uffff\ue000\u{10000}\u{103ff}\u{10fc00}\u{10ffff}'])(
    'are found when their byte length differs: %j in escapes',
    (key) => {
      const others = ['\u007e', '\u0081', '\u07fe', '\u0801', '\ufffe', '\u{10001}', '\u{10fffe}'];
      expect(found(`{${spelled(key, [true])}:1}`, [key, ...others])).toEqual([key]);
    },
  );

  it.each([
    ...['\\ud800\\udbff', '\\ud800\\ue000', '\\ud800', '\\udc00\\udc00', '\\ud800\\n', '\\ud800xudc00'],
    ...['\\ud800\\ndc00', '\\u0041\\udc78', '\\ue800\\udc00'],
  ])('are not found in a key that is not valid Unicode: %s', (written) => {
    const near = ['\ufffd', '\u{10000}', '\u{ffff}', '\u{10400}', '\ufffd\ufffd', '\ue000', '\udc00', '', 'x'];
    expect(found(`{"${written}":1}`, near)).toEqual([]);
  });

  it.each([
    ['\\u0041xxdc00', 'Axxdc00'],
    ['\\u0041\\\\dc00', 'A\\dc00'],
    ['\\ud7ff\\ue000', '\ud7ff\ue000'],
  ])('are found when only an apparent half of a surrogate pair follows: %s', (written, key) =>
    expect(found(`{"${written}":1}`, [key, 'x'])).toEqual([key]),
  );

  it('have their number of values, themselves included', () => {
    const { members } = parseJson('{"a":[1,{"b":[2,3]},[]],"c":"d","e":{}}');
    expect(Array.from(members, ([key, { values }]) => [key, values])).toEqual([
      ['a', 7],
      ['c', 1],
      ['e', 1],
    ]);
  });

  it('are those of the outermost object only', () => {
    const json = parseJson('{"parent":{"type":1},"list":[{"type":2}]}', keysOf(['type', 'parent']));
    expect([[...json.members.keys()], memberOf(json, 'parent')?.members.has('type')]).toEqual([['parent'], true]);
  });

  it('are found whatever their length, in any escaping', () => {
    const names = [1_023, 1_024, 1_025].map((length) => 'x'.repeat(length));
    for (const first of ['x', '\\u0078']) {
      const lengths = [1_024, 1_025, 1_026].map((length) => found(`{"${first}${'x'.repeat(length - 1)}":1}`, names));
      expect(lengths).toEqual([[names[1]], [names[2]], []]);
    }
  });

  it('are distinguished even if some have the same hash', () => {
    const names = Array.from({ length: 200_000 }, (_, index) => `${Math.imul(index, 0x9e3779b1)} ${index}`);
    const json = parseJson(`{${names.map((key, index) => `"${key}":${index}`).join()}}`, keysOf(names));
    const wrong = names.filter((key, index) => textIn(json, key) !== String(index));
    expect([wrong, json.members.size]).toEqual([[], names.length]);
  });
});

describe('the elements of an array', () => {
  it('each keep their own text', () => {
    const texts = ['{"n": 1.0, "s": "],[\\"{"}', '[1,[2]]', '"a,b"', '12345678901234567890', 'null'];
    expect(elementsOf(`[ ${texts.join(' ,')}]`).map(({ text }) => text)).toEqual(texts);
  });

  it.each(['[]', ' [ ] '])('of %j are empty', (text) => expect(elementsOf(text)).toEqual([]));

  it('have no white space of any kind around them', () => {
    const blanks = fc.string({ unit: fc.constantFrom(' ', '\t', '\n', '\r') });
    const spaced = fc.array(fc.tuple(blanks, fc.json(), blanks), { minLength: 1 });
    fc.assert(
      fc.property(blanks, spaced, (before, values) => {
        const elements = elementsOf(`${before}[${values.map((parts) => parts.join('')).join(',')}]`);
        expect(elements.map(({ text }) => text)).toEqual(values.map(([, value]) => value.trim()));
      }),
    );
  });

  it('have the requested members', () => {
    const [element] = elementsOf('[{"wanted":1,"other":2,"data":[3]}]', keysOf(['wanted', key]));
    expect(element && [...element.members.keys()].map((one) => textIn(element, one))).toEqual(['1', '[3]']);
  });

  it.each(['{}', '{"a":[1]}', '1', '"[1]"'])('are not requested from %s', (text) =>
    expect(() => elementsOf(text)).toThrow(new TypeError('expected an array')),
  );

  it('are read only up to a refused one', () => {
    const take = () => {
      throw new Error('enough');
    };
    const read = () => readIn(1e6, `{"data":[1,${'2,'.repeat(1_000)}3]}`, ofList, { key, keys: allKeys, take });
    expect(read).toThrow('enough');
    expect(effort.characters).toBeLessThan(20);
  });

  it('may be read themselves as they come', () => {
    const texts: unknown[] = [];
    const take = (element: Json) => texts.push(memberOf(element, 'a')?.text);
    readIn(1, '{"data":[{"a":[[{"b":[]}]]},{"a":{"b":[1]}}],"more":{"c":[{}]}}', ofList, { key, keys: allKeys, take });
    expect(texts).toEqual(['[[{"b":[]}]]', '{"b":[1]}']);
  });

  it('may be nested as deeply as bodies of devices', () => {
    const nested = (depth: number) => `[${'['.repeat(depth)}${']'.repeat(depth)}]`;
    expect(elementsOf(nested(maxJsonDepth))).toHaveLength(1);
    expect(() => elementsOf(nested(maxJsonDepth + 1))).toThrow('nested more than 130 levels');
  });
});

describe('an answer that is read in slices', () => {
  const value = fc.jsonValue({ maxDepth: 6 });
  const slice = fc.integer({ min: 1, max: 40 });

  it('gives the same result as in one piece, for any answer', () =>
    fc.assert(
      fc.property(value, fc.nat(2), slice, (any, indent, size) => {
        const text = JSON.stringify(any, undefined, indent);
        const [whole, { answer }] = [parseJson(text), readIn(size, text)];
        expect([answer.text, answer.isObject, answer.size]).toEqual([text, whole.isObject, whole.size]);
        expect([...answer.members]).toEqual([...whole.members]);
      }),
      { numRuns: 500 },
    ));

  it('gives the elements of its list in order, between any other members', () => {
    const lists = fc.record({ before: value, data: fc.array(value), after: value });
    fc.assert(
      fc.property(lists, slice, fc.nat(2), (object, size, indent) => {
        const list = collecting();
        const text = JSON.stringify(object, undefined, indent);
        const parsed = JSON.parse(text);
        const { answer } = readIn(size, text, keysOf(['before', 'data', 'after']), list);
        expect(list.elements.map((element) => element.value)).toEqual(parsed.data);
        for (const one of ['before', 'after']) expect(JSON.parse(textIn(answer, one) ?? '')).toEqual(parsed[one]);
        expect([...answer.members]).toEqual([...parseJson(text).members]);
      }),
      { numRuns: 500 },
    );
  });

  it('is refused when its list is closed like an object', () => {
    const read = () => readIn(1e6, '{"data":[1}}', ofList, collecting());
    expect(problemOf(read)).toBe('is not well-formed JSON, see character 11');
  });

  it('alternates with another answer', () => {
    const texts = ['[[[1,{"a":[2,3]}],4],[{"b":[5,{"c":6}]}]]', '{"a":[{"b":[1,[2,3]]},[4,[5,6]]],"c":{"d":[7]}}'];
    const readers = texts.map((text) => answerReader(Buffer.from(text), allKeys));
    const answers = readers.map((): Json | undefined => undefined);
    for (let round = 0; answers.includes(undefined); round += 1) {
      const index = round % 2;
      answers[index] ??= readers[index]?.(1);
    }
    expect(answers.map((answer) => answer?.text)).toEqual(texts);
  });

  it.each([
    ['elements', `{"data":[${'{"a":[1,2]},'.repeat(999)}1]}`],
    ['elements that are numbers', `{"data":[${'1,'.repeat(5_000)}1]}`],
    ['values of one element', `{"data":[[${'1,'.repeat(5_000)}1]]}`],
    ['members', `{${'"a":1,'.repeat(2_000)}"data":[]}`],
    ['values of one member', `{"a":[${'{"b":1},'.repeat(1_500)}1],"data":[]}`],
    ['values of an array', `[${'{"b":1},'.repeat(1_500)}1]`],
  ])('is read in the expected number of slices: of many %s', (_what, text) => {
    const { slices } = readIn(1_000, text, ofList, collecting());
    expect(slices).toBeGreaterThanOrEqual(Math.floor(text.length / 1_020));
    expect(slices).toBeLessThanOrEqual(Math.ceil(text.length / 1_000));
  });

  it('is read once, and its elements are counted', () => {
    const text = `{"a":[1,{"b":2}],"data":[${'{"a":[1,2]},'.repeat(99)}1] , "c":null }`;
    readIn(100, text, ofList, collecting(keysOf(['a'])));
    const values = 1 + 4 + 1 + 99 * 4 + 1 + 1;
    expect(effort).toEqual({ characters: text.length, values, elements: 100, built: 0 });
  });
});
