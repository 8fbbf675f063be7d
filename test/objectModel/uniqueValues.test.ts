import { describe, expect, it } from 'vitest';
import { createUniqueValues } from '../../src/objectModel/unique.ts';
import { parseJson } from '../../src/protocol/json.ts';

const modelWith = (properties: string) => parseJson(`{"model":"svc.device","properties":${properties}}`);
const unique = createUniqueValues(['serial', 'site']);
const textsOf = (properties: string) => {
  const { values } = unique.read(modelWith(properties));
  return values && Object.fromEntries(Array.from(values, ([name, { text }]) => [name, text]));
};

describe('the values of unique properties', () => {
  it.each([
    ['plain', '{"serial":"A-1","x":1,"site":7}', { serial: '"A-1"', site: '7' }],
    ['wrapped', '{"site":{"value": 7},"serial":{"value":"A-1"}}', { serial: '"A-1"', site: '7' }],
    [
      'of any type',
      '{"serial":false,"site":{"value":0,"unit":"m"}}',
      { serial: 'false', site: '{"value":0,"unit":"m"}' },
    ],
    ['with one missing', '{"serial":"A-1"}', undefined],
    ['with one that is null: it tells nothing apart', '{"serial":"A-1","site":null}', undefined],
    ['with one that is null and wrapped', '{"serial":{"value":null},"site":7}', undefined],
    ['of properties that are no object', '["serial","site"]', undefined],
  ])('are read: %s', (_, properties, texts) => expect(textsOf(properties)).toEqual(texts));

  it('are empty in a model without properties, and for a type without unique properties', () => {
    expect(unique.read(parseJson('{"model":"svc.device"}')).values).toBeUndefined();
    expect(createUniqueValues([]).read(modelWith('{"serial":"A-1"}')).values).toBeUndefined();
  });
  it('are not looked for in fewer values than there are', () => {
    const { read } = createUniqueValues(['serial', 'site', 'tag']);
    expect(read(modelWith('{"serial":1,"serial":2}'))).toEqual({ values: undefined, twice: undefined });
  });

  it.each([
    ['"A-1"', '{"value":"\\u0041-1"}', true],
    ['1', '1.0', true],
    ['9007199254740992', '9007199254740993', false],
    ['1', '"1"', false],
    ['"A-1"', 'null', false],
    ['0', 'false', false],
    ['"A-1"', '"B-1"', false],
    ['"A-1"', '"A-1"', true],
    ['"1"', '1', false],
    ['"1"', '[1]', false],
    ['[1]', '"1"', false],
    ['1', '2', false],
    ['-1', '{"value":-1.0}', true],
    ['9', '9.0', true],
    ['1.5', '1.50', false],
    ['true', 'true', true],
    ['true', 'false', false],
    ['[1]', '[1]', true],
    ['[1]', '[1.0]', false],
    ['[1]', '1', false],
    ['"\\n"', '"\\u000a"', true],
    ['"\\n"', '"n"', false],
    ['"é"', '"\\u00e9"', true],
    ['"\\ud83d\\ude00"', '"😀"', true],
    ['"\\ud83d"', '"\\ud83d"', true],
    ['"\\ud83d"', '"�"', false],
    ['"A-10"', '"A-1"', false],
    ['"A-1"', '"A-10"', false],
    ['""', '""', true],
    ['10', '1e1', true],
    ['9007199254740992', '9007199254740992', true],
    ['{"a":1}', '{"a":1}', true],
    ['{"a":1}', '{ "a":1}', false],
  ])('%s and %s are the same: %s', (one, other, isSame) => {
    const wanted = unique.read(modelWith(`{"serial":${one},"site":7}`)).values ?? new Map();
    expect(unique.matching(wanted)(modelWith(`{"site":7,"serial":${other}}`))).toBe(isSame);
  });

  it.each([
    ['{"serial":1,"serial":2,"site":7}', 'serial'],
    ['{"serial":1,"site":7,"site":7}', 'site'],
    ['{"serial":1,"serial":2,"other":7}', 'serial'],
    ['{"serial":1,"site":{"value":7,"value":8}}', 'site'],
    ['{"serial":1,"serial":1,"site":{"value":7,"value":8}}', 'serial'],
    ['{"serial":1,"site":7,"other":1,"other":2}', undefined],
    ['{"serial":1,"other":1}', undefined],
    ['{"serial":{"value":7,"value":8},"other":1}', undefined],
    ['{"serial":1}', undefined],
  ])('are ambiguous when one of them occurs twice: of %s that is %s', (properties, twice) =>
    expect(unique.read(modelWith(properties))).toMatchObject({ twice }),
  );

  it('are the same at any position of the model', () => {
    const far = modelWith(`{"other":"${'x'.repeat(500)}","serial":"A-1","site":7}`);
    const near = modelWith('{"serial":"A-1","site":7}');
    for (const [one, other] of [[far, near] as const, [near, far] as const])
      expect(unique.matching(unique.read(one).values ?? new Map())(other)).toBe(true);
  });

  it('do not match a model that lacks one', () => {
    const wanted = unique.read(modelWith('{"serial":1,"site":7}')).values ?? new Map();
    expect(unique.matching(wanted)(modelWith('{"serial":1,"other":7}'))).toBe(false);
    expect(unique.matching(wanted)(modelWith('{"serial":1}'))).toBe(false);
    expect(unique.matching(new Map())(modelWith('{"serial":1,"site":7}'))).toBe(true);
  });
});
