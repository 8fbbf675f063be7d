import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type Json, MalformedJson, maxJsonDepth, memberOf, parseJson, textIn } from '../../src/protocol/json.ts';
import { answerReader, type Elements, eachElement } from '../../src/protocol/jsonAnswer.ts';
import { allKeys, keysOf } from '../../src/protocol/jsonKeys.ts';
import { withCountedEffort } from '../support/effort.ts';

const effort = withCountedEffort();

const key = 'data';

function collecting(keys = allKeys): Elements & { readonly elements: Json[] } {
  const elements: Json[] = [];
  return { key, keys, elements, take: (element) => void elements.push(element) };
}

function elementsOf(text: string, keys = allKeys): Json[] {
  const list = collecting(keys);
  eachElement(parseJson(`{"data":${text}}`), list);
  return list.elements;
}

/** Reads an answer in slices of this size; says how many there were. */
function readIn(slice: number, text: string, keys = allKeys, list?: Elements) {
  const readOn = answerReader(Buffer.from(text), keys, list);
  for (let slices = 1; ; slices += 1) {
    const answer = readOn(slice);
    if (answer !== undefined) return { answer, slices };
  }
}

describe('the elements of an array', () => {
  it('each keep their own text', () => {
    const text = '[ {"n": 1.0, "s": "],[\\"{"}, [1,[2]] ,"a,b" ,12345678901234567890,null]';
    expect(elementsOf(text).map((element) => element.text)).toEqual([
      '{"n": 1.0, "s": "],[\\"{"}',
      '[1,[2]]',
      '"a,b"',
      '12345678901234567890',
      'null',
    ]);
  });

  it.each(['[]', ' [ ] '])('of %j are empty', (text) => expect(elementsOf(text)).toEqual([]));

  it('have no white space of any kind around them', () => {
    const blanks = fc.string({ unit: fc.constantFrom(' ', '\t', '\n', '\r') });
    const spaced = fc.array(fc.tuple(blanks, fc.json(), blanks), { minLength: 1 });
    fc.assert(
      fc.property(blanks, spaced, (before, values) => {
        const texts = elementsOf(`${before}[${values.map((parts) => parts.join('')).join(',')}]`).map(
          ({ text }) => text,
        );
        expect(texts).toEqual(values.map(([, value]) => value.trim()));
      }),
    );
  });

  it('have the requested members', () => {
    const [element] = elementsOf('[{"wanted":1,"other":2}]', keysOf(['wanted']));
    expect(element && [memberOf(element, 'wanted')?.text, element.members.size]).toEqual(['1', 1]);
  });
  it.each(['{}', '{"a":[1]}', '1', '"[1]"'])('are not requested from %s', (text) => {
    expect(() => elementsOf(text)).toThrow('expected an array');
    expect(() => readIn(1e6, `{"data":${text}}`, allKeys, collecting())).toThrow('expected an array');
  });

  it('are counted, with what is read for them', () => {
    const text = '{"data":[1,[2]]}';
    eachElement(parseJson(text), collecting());
    expect(effort).toEqual({ characters: text.length + '[1,[2]]'.length, values: 5 + 4, elements: 2, built: 0 });
  });

  it('are not requested from an object without the array', () =>
    expect(() => eachElement(parseJson('{}'), collecting())).toThrow('expected an array'));
});

describe('an answer that is read in slices', () => {
  const value = fc.jsonValue({ maxDepth: 6 });
  const indented = fc.tuple(value, fc.nat(2)).map(([any, indent]) => JSON.stringify(any, undefined, indent));

  it('gives the same result as in one piece, for any answer', () => {
    fc.assert(
      fc.property(indented, fc.integer({ min: 1, max: 40 }), (text, slice) => {
        const [whole, { answer }] = [parseJson(text), readIn(slice, text)];
        expect(answer.text).toBe(text);
        expect([answer.isObject, answer.size]).toEqual([whole.isObject, whole.size]);
        expect([...answer.members.entries()]).toEqual([...whole.members.entries()]);
      }),
      { numRuns: 500 },
    );
  });

  it('gives the elements of its list in order, between any other members', () => {
    const lists = fc.record({ before: value, data: fc.array(value), after: value });
    fc.assert(
      fc.property(lists, fc.integer({ min: 1, max: 40 }), fc.nat(2), (object, slice, indent) => {
        const list = collecting();
        const text = JSON.stringify(object, undefined, indent);
        const { answer } = readIn(slice, text, keysOf(['before', 'data']), list);
        expect(list.elements.map((element) => element.value)).toEqual(JSON.parse(text).data);
        expect(JSON.parse(textIn(answer, 'before') ?? '')).toEqual(JSON.parse(text).before);
        expect(answer.members.get('data')?.values).toBe(parseJson(text).members.get('data')?.values);
      }),
      { numRuns: 500 },
    );
  });

  it('is refused for the same faults as in one piece', () => {
    fc.assert(
      fc.property(
        indented,
        fc.nat(),
        fc.constantFrom('', ']', '}', ',', '"', '1', 'x'),
        fc.nat(),
        (text, at, by, size) => {
          const place = at % (text.length + 1);
          const broken = text.slice(0, place) + by + text.slice(place + 1);
          expect(problemOf(() => readIn(1 + (size % 40), broken))).toBe(problemOf(() => parseJson(broken)));
        },
      ),
      { numRuns: 1_000 },
    );
  });

  it('is refused when its list is closed like an object', () => {
    const read = () => readIn(1e6, '{"data":[1}}', keysOf([key]), collecting());
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
    const { slices } = readIn(1_000, text, keysOf(['data']), collecting());
    expect(slices).toBeGreaterThanOrEqual(Math.floor(text.length / 1_020));
    expect(slices).toBeLessThanOrEqual(Math.ceil(text.length / 1_000));
  });

  it('is read once, and its elements are counted', () => {
    const text = `{"a":[1,{"b":2}],"data":[${'{"a":[1,2]},'.repeat(99)}1] , "c":null }`;
    readIn(100, text, keysOf(['data']), collecting(keysOf(['a'])));
    const values = 1 + 4 + 1 + 99 * 4 + 1 + 1;
    expect(effort).toEqual({ characters: text.length, values, elements: 100, built: 0 });
  });

  it('is read only up to a refused element', () => {
    const take = () => {
      throw new Error('enough');
    };
    expect(() =>
      readIn(1e6, `{"data":[1,${'2,'.repeat(1_000)}3]}`, keysOf([key]), { key, keys: allKeys, take }),
    ).toThrow('enough');
    expect(effort.characters).toBeLessThan(20);
  });

  it('may have models nested as deeply as those of devices', () => {
    const nested = (depth: number) => `{"data":[${'['.repeat(depth)}${']'.repeat(depth)}]}`;
    readIn(10, nested(maxJsonDepth), keysOf([key]), collecting());
    expect(() => readIn(10, nested(maxJsonDepth + 1), keysOf([key]), collecting())).toThrow(
      'nested more than 128 levels',
    );
  });
});

function problemOf(read: () => unknown): string | undefined {
  try {
    read();
    return undefined;
  } catch (error) {
    if (error instanceof MalformedJson) return error.message;
    throw error;
  }
}
