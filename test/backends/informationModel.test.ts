import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  attributesOf,
  isCreatedBy,
  isMarked,
  isNamed,
  isReplacedBy,
  objectOf,
  saysTheSame,
} from '../../src/backends/informationModel.ts';
import { Refusal } from '../../src/backends/refusal.ts';
import { keysOf, parseJson } from '../../src/protocol/json.ts';
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
  it('returns an object model as the backend’s text', async () => {
    const text = `{"objectId":"${pumpId}", "model":"m","version":12345678901234567890,"properties":{"2":1.0,"1":1e400}}`;
    const informationModel = clientOf([{ call: `GET /objects/${pumpId}/models/m`, reply: [200, text] }]);
    expect((await informationModel.getModel(pumpId, 'm'))?.text).toBe(text);
  });

  it('creates an object model for its owner', async () => {
    const informationModel = clientOf([
      { call: 'POST /object?owner=p%2F1', body: '{"type":"p"}', reply: [201, { ...model, relatedModels: [] }] },
    ]);
    expect((await informationModel.createModel('p/1', '{"type":"p"}')).value).toEqual({ ...model, relatedModels: [] });
  });

  it('creates an object model under an objectId that the body lacks', async () => {
    const informationModel = clientOf([{ call: `POST /objects/${pumpId}?owner=p1`, reply: [201, model] }]);
    expect((await informationModel.createModel('p1', '{"type":"pump"}', pumpId)).value).toEqual(model);
  });

  it('names the existing object model that conflicts with a new one', async () => {
    const meta = { objectId: 'o2', type: 'valve@1.0.0' };
    const informationModel = clientOf([
      { call: 'POST /object?owner=p1', reply: [409, { errors: [{ code: '409', title: 'Exists', meta }] }] },
    ]);
    const refusal = await rejection(informationModel.createModel('p1', '{}'));
    expect(refusal).toBeInstanceOf(Refusal);
    expect(refusal).toMatchObject({ status: 409, meta, code: 'http_response_error' });
  });

  it('claims an object model', () =>
    clientOf([{ call: `PUT ${o1}/owner`, body: '{"ownerId":"p1"}', reply: [204] }]).claim(pumpId, 'svc.device', 'p1'));

  it('does not claim an object model of another owner', async () => {
    const informationModel = clientOf([{ call: `PUT ${o1}/owner`, reply: [409] }]);
    const { code, details } = await rejection(informationModel.claim(pumpId, 'svc.device', 'p1'));
    expect([code, details]).toEqual(['not_authorized', 'information model: claim object model failed with HTTP 409']);
  });

  it('returns the outgoing references of an object model, with the text of their attributes unchanged', async () => {
    const reference = { name: 'contains', to: { objectId: pumpId, model: 'svc.device' } };
    const attributes = '{"isContained":true, "since":12345678901234567890}';
    const text = JSON.stringify(reference);
    const data = `{"data":[${text.slice(0, -1)},"attributes":${attributes}}, ${text}]}`;
    const informationModel = clientOf([{ call: `GET ${o1}/references/out`, reply: [200, data] }]);
    const seen: unknown[] = [];
    await informationModel.references(pumpId, 'svc.device', (one) =>
      seen.push([isNamed(new Set(['contains']))(one), objectOf('svc.device')(one), attributesOf(one).text]),
    );
    expect(seen).toEqual([
      [true, pumpId, attributes],
      [true, pumpId, '{}'],
    ]);
  });

  it.each([
    ['not an object', '[]'],
    ['not a list', '{}'],
    ['an object', '{"data":{}}'],
    ['two lists', '{"data":[],"data":[]}'],
    ['numbers', '{"data":[1]}'],
    ['without names', '{"data":[{"to":{},"attributes":{}}]}'],
    ['without targets', '{"data":[{"name":"contains","attributes":{}}]}'],
    ['one with a target that is not a GUID', '{"data":[{"name":"contains","to":{"objectId":"../B","model":"m"}}]}'],
    ['one without a target model', `{"data":[{"name":"contains","to":{"objectId":"${pumpId}"}}]}`],
    [
      'one with attributes that are not an object',
      `{"data":[{"name":"contains","to":{"objectId":"${pumpId}","model":"m"},"attributes":[]}]}`,
    ],
    ['in an answer that ends too early', '{"data":[]'],
    ['in an answer that does not end', '{"data":[]}]'],
  ])('fails as a backend when the answer about references is %s', async (_what, answer) => {
    const informationModel = clientOf([{ call: `GET ${o1}/references/out`, reply: [200, answer] }]);
    const reading = informationModel.references(pumpId, 'svc.device', (one) => {
      isNamed(new Set())(one);
      objectOf('m')(one);
      isMarked(one, keysOf(['isParent']));
    });
    expect((await rejection(reading)).code).toBe('internal_platform_error');
  });

  it('returns no references for an object model that does not exist', async () => {
    const informationModel = clientOf([{ call: `GET ${o1}/references/out`, reply: [404] }]);
    await informationModel.references(pumpId, 'svc.device', () => expect.unreachable());
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

  it.each(['{}', '{"data":{}}', '{"data":[1]}', '{"data":[{"objectId":"o1"}]}'])(
    'fails as a backend when it answers a query with %s',
    async (text) => {
      const informationModel = clientOf([{ call: 'POST /query', reply: [200, text] }]);
      expect((await rejection(informationModel.query('m', 'pump', new Map(), () => {}))).code).toBe(
        'internal_platform_error',
      );
    },
  );

  it('returns an object model that must exist, and otherwise the refusal', async () => {
    expect(
      (await clientOf([{ call: `GET ${o1}`, reply: [200, model] }]).existingModel(pumpId, 'svc.device')).value,
    ).toEqual(model);
    const missing = clientOf([{ call: `GET ${o1}`, reply: [404] }]).existingModel(pumpId, 'svc.device');
    expect(await rejection(missing)).toMatchObject({ status: 404 });
  });

  type Client = ReturnType<typeof clientOf>;
  it.each<[operation: string, call: string, begin: (client: Client) => Promise<unknown>]>([
    ['read object model', `GET ${o1}`, ({ existingModel }) => existingModel(pumpId, 'svc.device')],
    ['create object model', 'POST /object?owner=p1', ({ createModel }) => createModel('p1', '{}')],
    ['read references', `GET ${o1}/references/out`, ({ references }) => references(pumpId, 'svc.device', () => {})],
    ['create references', `POST ${o1}/references/out`, ({ addReferences: add }) => add(pumpId, 'svc.device', '[]')],
    ['look up object model', 'POST /query', ({ query }) => query('m', 'pump', new Map(), () => {})],
  ])('is named in the details when it refuses to %s', async (operation, call, begin) => {
    const refusal = await rejection(begin(clientOf([{ call, reply: [400] }])));
    expect(refusal.details).toBe(`information model: ${operation} failed with HTTP 400`);
  });

  it('hands over the result of each related model', async () => {
    const answer = JSON.stringify({ ...model, relatedModels: [{ model: 'a' }, { model: 'b' }] });
    const informationModel = clientOf([{ call: 'POST /object?owner=p1', reply: [201, answer] }]);
    const related: string[] = [];
    await informationModel.createModel('p1', '{}', undefined, false, { take: ({ text }) => void related.push(text) });
    expect(related).toEqual(['{"model":"a"}', '{"model":"b"}']);
  });
});

describe('after a lost answer', () => {
  withFakeTimers();

  const create = 'POST /object?owner=p1';
  const sent = `{"objectId":"${pumpId}","model":"svc.device","type":"pump@1"}`;
  const owned = { ...model, ownerId: 'p1' };

  it('a change that the repeat makes counts as done', async () => {
    const informationModel = clientOf(answers(create, 'lost', [201, model]));
    expect((await settled(informationModel.createModel('p1', sent))).value).toEqual(model);
  });

  it('an object model of the same type and owner is the service’s own creation', async () => {
    const informationModel = clientInConflict(create, owned);
    expect((await settled(informationModel.createModel('p1', sent))).value).toEqual(owned);
  });

  it.each([
    ['of another type', { ...owned, type: 'valve@1.2.0' }],
    ['of another owner', { ...owned, ownerId: 'p2' }],
    ['without an owner', model],
  ])('an object model %s is not the service’s own creation', async (_, found) => {
    const meta = { objectId: pumpId };
    const informationModel = clientInConflict(create, found, { errors: [{ title: 'Exists', meta }] });
    expect(await rejection(settled(informationModel.createModel('p1', sent)))).toMatchObject({ status: 409, meta });
  });

  it('the object model is read by the model of the request', async () => {
    const other = { ...owned, model: 'm2' };
    const informationModel = clientOf([
      { call: create, reply: 'lost' },
      { call: create, reply: [409] },
      { call: `GET /objects/${pumpId}/models/m2`, reply: [200, other] },
    ]);
    const body = `{"objectId":"${pumpId}","model":"m2","type":"pump"}`;
    expect((await settled(informationModel.createModel('p1', body))).value).toEqual(other);
  });

  it.each([
    ['no answer was lost', [{ call: create, reply: [409] }], false],
    ['the object model was there before', answers(create, 'lost', [409]), true],
  ] satisfies [string, Script, boolean][])('nothing is read when %s', async (_, script, wasThere) => {
    const creating = clientOf(script).createModel('p1', sent, undefined, wasThere);
    expect(await rejection(settled(creating))).toMatchObject({ status: 409 });
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

  it('an object model that does not exist was not created', async () => {
    const informationModel = clientOf([...answers(create, [502], [409]), { call: `GET ${o1}`, reply: [404] }]);
    expect(await rejection(settled(informationModel.createModel('p1', sent)))).toMatchObject({ status: 409 });
  });

  const replace = '{"version":1,"type":"pump@1","properties":{"n":9007199254740993,"a":{"x":1,"y":2}}}';
  const replaced = (changes: string) => `{"objectId":"${pumpId}","model":"svc.device",${changes}}`;

  it.each([
    ['in equal text', '"version":2,"type":"pump@1.2.0","properties":{"n":9007199254740993,"a":{"x":1,"y":2}}'],
    [
      'in different text',
      '"type":"pump@1.2.0","variables":{},"properties":{"a":{"y":2.0,"x":1e0},"n":9007199254740993.0},"version":2',
    ],
  ])(
    'an object model with the sent values, %s and one version higher, is the service’s own change',
    async (_, stored) => {
      const informationModel = clientInConflict(`PUT ${o1}`, replaced(stored));
      const { text } = await settled(informationModel.replaceModel(pumpId, 'svc.device', replace));
      expect(text).toBe(replaced(stored));
    },
  );

  const properties = '"properties":{"n":9007199254740993,"a":{"x":1,"y":2}}';
  it.each([
    ['two versions higher', `"version":3,"type":"pump@1.2.0",${properties}`],
    ['of the same version', `"version":1,"type":"pump@1.2.0",${properties}`],
    ['of another type', `"version":2,"type":"valve@1.2.0",${properties}`],
    ['of another major version', `"version":2,"type":"pump@11.2.0",${properties}`],
    ['with a number that is the same as a double', `"version":2,"type":"pump@1.2.0",${properties.replace('3,', '2,')}`],
    ['with a property more', `"version":2,"type":"pump@1.2.0",${properties.replace('{"n"', '{"m":1,"n"')}`],
    ['with variables', `"version":2,"type":"pump@1.2.0","variables":{"v":1},${properties}`],
  ])('an object model that is stored %s is another’s change', async (_, stored) => {
    const informationModel = clientInConflict(`PUT ${o1}`, replaced(stored));
    const refusal = await rejection(settled(informationModel.replaceModel(pumpId, 'svc.device', replace)));
    expect(refusal).toMatchObject({ status: 409 });
  });

  it('an object model without the sent name is another’s change', async () => {
    const stored = `${replaced(`"version":2,"type":"pump@1.2.0","name":"b",${properties}`)}`;
    const informationModel = clientInConflict(`PUT ${o1}`, stored);
    const work = informationModel.replaceModel(pumpId, 'svc.device', replace.replace('{', '{"name":"a",'));
    expect(await rejection(settled(work))).toMatchObject({ status: 409 });
  });

  it('a version beyond the integers of JavaScript is compared exactly', async () => {
    const stored = replaced('"version":9007199254740993,"type":"pump@1.0.0"');
    const informationModel = clientInConflict(`PUT ${o1}`, stored);
    const body = '{"version":9007199254740992,"type":"pump"}';
    expect((await settled(informationModel.replaceModel(pumpId, 'svc.device', body))).text).toBe(stored);
  });
});

const same = saysTheSame;

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

  it.each([
    ['of one name', '{"version":1,"type":"pump","name":"a"}', '{"version":2,"type":"pump@1.0.0","name":"a"}', true],
    ['when the request has no version', '{"type":"pump"}', '{"version":2,"type":"pump@1.0.0"}', false],
    ['when the version is negative', '{"version":-5,"type":"pump"}', '{"version":-4,"type":"pump@1.0.0"}', false],
    ['when the version has a fraction', '{"version":1.5,"type":"pump"}', '{"version":2.5,"type":"pump@1.0.0"}', false],
    ['when it has no type', '{"version":1,"type":"pump"}', '{"version":2}', false],
    ['when the request has no type', '{"version":1}', '{"version":2,"type":"pump@1.0.0"}', false],
  ])('of which it is asked whether it proves a change, %s', (_, sent, stored, proves) =>
    expect(isReplacedBy(parseJson(sent), parseJson(stored))).toBe(proves),
  );
});
