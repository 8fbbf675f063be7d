import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isCreatedBy, isReplacedBy, saysTheSame as same } from '../../src/backends/informationModel.ts';
import { parseJson } from '../../src/protocol/json.ts';
import type { Script } from '../support/scriptedBackend.ts';
import { withFakeTimers } from '../support/waiting.ts';
import { pumpId } from '../support/world.ts';
import { answers, rejection, scripted, settled } from './harness.ts';

const o1 = `/objects/${pumpId}/models/svc.device`;
const model = { objectId: pumpId, model: 'svc.device', type: 'pump@1.2.0', properties: {}, variables: {}, version: 1 };

const clientOf = (script: Script) => scripted(script).informationModel;
const clientInConflict = (call: string, stored: unknown, ...conflict: [body?: unknown]) =>
  clientOf([...answers(call, 'lost', [409, ...conflict]), { call: `GET ${o1}`, reply: [200, stored] }]);

describe('the information model', () => {
  it.each([
    ['not an object', '[]'],
    ['not a list', '{}'],
    ['an object', '{"data":{}}'],
    ['two lists', '{"data":[],"data":[]}'],
    ['in an answer that ends too early', '{"data":[]'],
    ['in an answer that does not end', '{"data":[]}]'],
  ])('fails as a backend when the answer about references is %s', async (_what, answer) => {
    const informationModel = clientOf([{ call: `GET ${o1}/references/out`, reply: [200, answer] }]);
    expect((await rejection(informationModel.references(pumpId, 'svc.device', () => {}))).code).toBe(
      'internal_platform_error',
    );
  });

  it.each([200, 201, 204])('creates references, HTTP %i', async (status) => {
    const informationModel = clientOf([{ call: `POST ${o1}/references/out`, body: '[ ]', reply: [status, 'any'] }]);
    await informationModel.addReferences(pumpId, 'svc.device', '[ ]');
  });

  it('is queried with the text of unique property values unchanged, and returns the text of each hit', async () => {
    const hit = '{"objectId":"o1","model":"m","version":1,"properties":{"n":1.0}}';
    const informationModel = clientOf([
      {
        call: 'POST /query',
        body: '{"model":"m","type":"pump","properties":{"serial":12345678901234567890,"a\\"b":"x"}}',
        reply: [200, `{"data":[${hit}, ${hit}]}`],
      },
    ]);
    const values = new Map([
      ['serial', parseJson('12345678901234567890')],
      ['a"b', parseJson('"x"')],
    ]);
    const hits: string[] = [];
    await informationModel.query('m', 'pump', values, ({ text }) => void hits.push(text));
    expect(hits).toEqual([hit, hit]);
  });

  it.each(['{"data":[1]}', '{"data":[{"objectId":"o1"}]}'])(
    'fails as a backend when it answers a query with %s',
    async (text) => {
      const informationModel = clientOf([{ call: 'POST /query', reply: [200, text] }]);
      expect((await rejection(informationModel.query('m', 'pump', new Map(), () => {}))).code).toBe(
        'internal_platform_error',
      );
    },
  );
});

describe('after a lost answer', () => {
  withFakeTimers();

  const create = 'POST /object?owner=p1';
  const owned = { ...model, ownerId: 'p1' };

  it('the object model is read by the model of the request', async () => {
    const other = { ...owned, model: 'm2' };
    const reading = { call: `GET /objects/${pumpId}/models/m2`, reply: [200, other] } as const;
    const informationModel = clientOf([...answers(create, 'lost', [409]), reading]);
    const body = `{"objectId":"${pumpId}","model":"m2","type":"pump"}`;
    expect((await settled(informationModel.createModel('p1', body))).value).toEqual(other);
  });

  it('the object model that a 409 names is read when the request named none', async () => {
    const informationModel = clientInConflict(create, owned, { errors: [{ meta: { objectId: pumpId } }] });
    expect((await settled(informationModel.createModel('p1', '{"type":"pump"}'))).value).toEqual(owned);
  });

  it.each(['..', `${pumpId}/../..`, 7, null])(
    'the object of a 409 is not read unless it is an id: %j',
    async (objectId) => {
      const informationModel = clientOf(answers(create, 'lost', [409, { errors: [{ meta: { objectId } }] }]));
      expect(await rejection(settled(informationModel.createModel('p1', '{}')))).toMatchObject({ status: 409 });
    },
  );
});

describe('two JSON texts', () => {
  it.each([
    ['{"a":1,"b":[true,null]}', ' { "b" : [ true , null ] , "a" : 1 } '],
    ['1', '1.0'],
    ['100', '1e2'],
    ['0.001', '1E-3'],
    ['1.50', '15e-1'],
    ['-0', '0.0e7'],
    ['1e400', '10e399'],
    ['12345678901234567890', '12345678901234567890.0'],
    ['"\\u0041\\/"', '"A/"'],
    ['{"\\u0041":1}', '{"A":1}'],
    ['{"a":1,"a":2}', '{"a":2}'],
    ['{"__proto__":1}', '{"__proto__":1.0}'],
  ])('%s and %s are equal', (a, b) => expect(same(a, b)).toBe(true));

  it.each([
    ['9007199254740992', '9007199254740993'],
    ['12345678901234567890', '12345678901234567891'],
    ['1e400', '1e401'],
    ['1', '-1'],
    ['10', '1'],
    ['0.1', '0.10000000000000000001'],
    ['1', '"1"'],
    ['"n1e0"', '1'],
    ['null', 'false'],
    ['[1,2]', '[2,1]'],
    ['{"a":1}', '{"a":1,"b":null}'],
    ['{"__proto__":1}', '{}'],
    ['"a"', '"A"'],
  ])('%s and %s are different', (a, b) => expect(same(a, b)).toBe(false));

  it('are equal in any layout', () =>
    fc.assert(fc.property(fc.json(), (text) => same(text, JSON.stringify(JSON.parse(text), undefined, 1)))));

  it('are distinguished by exponents of any length', () => {
    const exponent = '9'.repeat(1_000);
    const expected = [false, true];
    expect([same(`1e${exponent}1`, `1e${exponent}2`), same(`1e${exponent}1`, ` 1e${exponent}1 `)]).toEqual(expected);
  });

  it('are compared in linear time, whatever a device sends', () => {
    const long = `["${'\\"x'.repeat(1_000_000)}",1${'0'.repeat(300_000)}1]`;
    expect(same(long, long.replace(']', ' ]'))).toBe(true);
  });
});

describe('a stored object model', () => {
  it.each([
    ['of the same type', '{"type":"pump"}', '{"ownerId":"p1","type":"pump@1.0.0"}', true],
    ['of another type', '{"type":"pump@1"}', '{"ownerId":"p1","type":"valve@1.2.0"}', false],
    ['of another owner', '{"type":"pump"}', '{"ownerId":"p2","type":"pump@1.0.0"}', false],
    ['without an owner', '{"type":"pump"}', '{"type":"pump@1.0.0"}', false],
    ['when the request has no type', '{}', '{"ownerId":"p1","type":"pump@1.0.0"}', false],
    ['when it has no type', '{"type":"pump"}', '{"ownerId":"p1"}', false],
    ['when neither has a type', '{}', '{"ownerId":"p1"}', false],
  ])('of which it is asked whether it proves a creation, %s', (_, sent, stored, proves) =>
    expect(isCreatedBy(parseJson(sent), 'p1', parseJson(stored))).toBe(proves),
  );

  it('proves a creation also with its owner in capitals', () => {
    const owner = '6f9619ff-8b86-d011-b42d-00cf4fc964ff';
    const stored = `{"ownerId":"${owner.toUpperCase()}","type":"pump@1.0.0"}`;
    expect(isCreatedBy(parseJson('{"type":"pump"}'), owner, parseJson(stored))).toBe(true);
  });

  const properties = '"properties":{"n":9007199254740993,"a":{"x":1,"y":2}}';
  const rewritten = '"variables":{},"properties":{"a":{"y":2.0,"x":1e0},"n":9007199254740993.0}';
  const change = `"version":1,"type":"pump@1",${properties}`;
  const large = '"version":9007199254740992,"type":"pump"';
  it.each([
    ['with the sent values', change, `"version":2,"type":"pump@1.2.0",${properties}`, true],
    ['with the sent values in different text', change, `"type":"pump@1.2.0",${rewritten},"version":2`, true],
    ['two versions higher', change, `"version":3,"type":"pump@1.2.0",${properties}`, false],
    ['of the same version', change, `"version":1,"type":"pump@1.2.0",${properties}`, false],
    [
      'one version higher, beyond the integers of JavaScript',
      large,
      '"version":9007199254740993,"type":"pump@1.0.0"',
      true,
    ],
    ['of another type', change, `"version":2,"type":"valve@1.2.0",${properties}`, false],
    ['of another major version', change, `"version":2,"type":"pump@11.2.0",${properties}`, false],
    [
      'with a number that is the same as a double',
      change,
      `"version":2,"type":"pump@1.2.0",${properties.replace('3,', '2,')}`,
      false,
    ],
    [
      'with a property more',
      change,
      `"version":2,"type":"pump@1.2.0",${properties.replace('{"n"', '{"m":1,"n"')}`,
      false,
    ],
    ['with variables', change, `"version":2,"type":"pump@1.2.0","variables":{"v":1},${properties}`, false],
    ['of another name', `"name":"a",${change}`, `"version":2,"type":"pump@1.2.0","name":"b",${properties}`, false],
    ['of one name', '"version":1,"type":"pump","name":"a"', '"version":2,"type":"pump@1.0.0","name":"a"', true],
    ['when the request has no version', '"type":"pump"', '"version":2,"type":"pump@1.0.0"', false],
    ['when the version is negative', '"version":-5,"type":"pump"', '"version":-4,"type":"pump@1.0.0"', false],
    ['when the version has a fraction', '"version":1.5,"type":"pump"', '"version":2.5,"type":"pump@1.0.0"', false],
    ['when it has no type', '"version":1,"type":"pump"', '"version":2', false],
    ['when the request has no type', '"version":1', '"version":2,"type":"pump@1.0.0"', false],
  ])('of which it is asked whether it proves a change, %s', (_, sent, stored, proves) =>
    expect(isReplacedBy(parseJson(`{${sent}}`), parseJson(`{${stored}}`))).toBe(proves),
  );
});
