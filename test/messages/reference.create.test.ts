import { idempotencyKey } from '../support/events.ts';
import { hostileModels, hostileObjectIds, modelFault, objectIdFault, shown } from '../support/hostileNames.ts';
import type { ScriptedCall, ScriptedReply } from '../support/scriptedBackend.ts';
import { otherPumpId, problem, pumpId } from '../support/world.ts';
import { messageTable } from './table/messageTable.ts';
import { type Row, row } from './table/row.ts';

const post = `POST /objects/${pumpId}/models/svc.device/references/out`;
const properties = { objectId: pumpId };
const reference = { name: 'feeds', to: { objectId: otherPumpId, model: 'svc.device' } };
const known = { ...reference, attributes: {} };
const body = [reference];
const ok = { success: true, code: 'ok', details: '' };
const failed = (code: string, details: unknown) => ({ success: false, code, details });
/** The stored references, which are read when attributes are given. */
const stored = (...data: unknown[]): ScriptedCall => ({
  call: post.replace('POST', 'GET'),
  reply: [200, { data }],
});
const parent = {
  ...reference,
  to: { objectId: otherPumpId.toUpperCase(), model: 'svc.device' },
  attributes: { x: 1, isParent: true },
};
/** References of which the information model gets `written`, while the model has a parent. */
const keeps = (it: string, sent: string, written: string, has: readonly object[] = [known, parent]): Row =>
  row(it, { properties, body: sent }, ok, [stored(...has), { call: post, body: written, reply: [200, { data: [] }] }]);
const refusal = (words: string) =>
  failed('http_response_error', `information model: create references failed with ${words}: as it is`);

const creates: ScriptedCall = { call: post, body: JSON.stringify(body), reply: [201, { data: [known] }] };

const passesOn = (it: string, body: unknown, reply: ScriptedReply, ack: Row['ack'] = ok): Row =>
  row(it, { properties, body }, ack, [
    { call: post, body: typeof body === 'string' ? body : JSON.stringify(body), reply },
  ]);
const rejects = (it: string, given: Partial<Row>, details: string): Row => ({
  it,
  body,
  ...given,
  ack: failed('validation_error', details),
});

const sample = { properties, body, backend: [creates], ack: ok, failed };

messageTable('V2', 'reference.create', sample, {
  creation: [
    passesOn('creates a reference that does not exist {S1.1 S12.1 S12.3 S12.6}', body, [201, { data: [known] }]),
    keeps(
      'updates the attributes of a reference that exists {S12.3}',
      JSON.stringify([{ ...reference, attributes: { isContained: false, order: 2 } }]),
      JSON.stringify([{ ...reference, attributes: { isContained: false, order: 2 } }]),
      [known],
    ),
    passesOn('succeeds again with the same request {S12.4}', body, [200, { data: [known] }]),
    passesOn(
      'creates and updates several references with one call {S12.2}',
      [reference, { ...reference, name: 'drains' }],
      [201, { data: [known, { ...known, name: 'drains' }] }],
    ),
    passesOn(
      'passes on attributes of a reference to another kind of model, of which a parent is none',
      [{ name: 'shows', to: { objectId: otherPumpId, model: 'svc.view' }, attributes: { isParent: true } }],
      [200, { data: [] }],
    ),
    passesOn('passes on an empty array', [], [200, { data: [] }]),
    row('uses the header’s model {S12.1}', { properties: { objectId: pumpId, model: 'svc.configuration' }, body }, ok, [
      {
        call: `POST /objects/${pumpId}/models/svc.configuration/references/out`,
        body: JSON.stringify(body),
        reply: [201, { data: [known] }],
      },
    ]),
    passesOn(
      'passes the body on byte for byte: 64-bit integers, 1.0, 1e400, the order of keys, white space',
      `[ {"to":{"model":"svc.device","objectId":"${otherPumpId}"},"name":"feeds", "note":{"2":12345678901234567890,"1":1.0,"x":1e400}}\n]`,
      [201, { data: [known] }],
    ),
    row('sends no notification of them {S12.5}', { properties: { ...properties, ack: undefined }, body }, undefined, [
      creates,
    ]),
  ],

  parent: [
    ...(
      [
        ['the parent', '{"2":1.0}', '{"isParent":true,"2":1.0}'],
        ['the parent, which it says is none', '{"isParent": false }', '{"isParent": true }'],
        ['the parent, without attributes', '{ }', '{"isParent":true }'],
        ['the parent, marked', '{"isParent":true,"y":2}', '{"isParent":true,"y":2}'],
        ['the parent, with attributes that are none', 'null', 'null'],
      ] as const
    ).map(([what, given, written]) => {
      const text = (attributes: string) =>
        `[ ${JSON.stringify({ ...known, name: 'drains' })},{"to":{"model":"svc.device","objectId":"${otherPumpId}"},"attributes":${attributes},"name":"f\\u0065eds"} ]`;
      return keeps(`changes attributes, and not what the parent is: ${what} {S15.12}`, text(given), text(written));
    }),
    keeps(
      'marks a parent that the model does not have, for all of the request',
      `[${JSON.stringify(parent)},${JSON.stringify({ ...parent, attributes: {} })}]`,
      `[${JSON.stringify(parent)},${JSON.stringify({ ...parent, attributes: { isParent: true } })}]`,
      [known],
    ),
    ...(
      [
        ['that the model has', { ...parent, name: 'drains' }, [parent]],
        ['of the same request', parent, []],
      ] as const
    ).map(([which, also, has]) =>
      row(
        `marks no second parent beside the one ${which} {S15.12 S20.7}`,
        { properties, body: [{ ...parent, name: 'contains' }, also].slice(has.length) },
        failed(
          'http_response_error',
          `body[${1 - has.length}].attributes.isParent is for the parent that the model has: changing the parent is not supported`,
        ),
        [stored(...has)],
      ),
    ),
    ...(
      [
        ['.name', '"to":{"model":"svc.device"},"name":"a","name":"b","attributes":{}'],
        ['.attributes', '"to":{"model":"svc.device"},"attributes":{},"attributes":{}'],
        ['.to', '"to":{"model":"svc.device"},"to":{"model":"svc.view"},"attributes":{}'],
        ['.attributes', '"to":{"model":"svc.device"},"attributes":{"isParent":true},"attributes":null'],
        ['.to.objectId', '"to":{"objectId":1,"objectId":2},"attributes":{}'],
        ['.attributes.isParent', '"to":{"model":"svc.device"},"attributes":{"isParent":true,"isParent":false}'],
      ] as const
    ).map(([path, members]) =>
      row(
        `refuses a reference that says twice what is read: ${path}`,
        { properties, body: `[7,{${members}}]` },
        failed('validation_error', `body[1]${path} occurs twice`),
        [stored(parent)],
      ),
    ),
    row(
      'creates references of an object model of which none can be read {S12.3}',
      { properties, body: [{ ...reference, attributes: {} }] },
      ok,
      [
        { ...stored(), reply: problem(404, 'Not found') },
        { ...creates, body: [known] },
      ],
    ),
    row(
      'reads a bounded number of references',
      { properties, body: [parent], limits: { maxReferences: 1 } },
      failed('response_too_large', 'the object model has more than 1 references'),
      [stored(known, parent)],
    ),
  ],

  refused: [
    passesOn('refuses an absent source {S12.6}', body, problem(404, 'Not found'), refusal('HTTP 404: Not found')),
    passesOn(
      'refuses a name that the type of the source does not know',
      [{ ...reference, name: 'likes' }],
      problem(400, 'Invalid reference'),
      refusal('HTTP 400: Invalid reference'),
    ),
    passesOn(
      'passes a body that is not an array to the information model unchanged {S1.4 S12.2}',
      JSON.stringify(reference),
      problem(400, 'Validation failed'),
      refusal('HTTP 400: Validation failed'),
    ),
    passesOn(
      'passes hostile names in the body to the information model unchanged, and none into a path',
      [{ name: '../x', to: { objectId: `../${otherPumpId}`, model: 'a/b' } }],
      problem(400, 'Validation failed'),
      refusal('HTTP 400: Validation failed'),
    ),
    rejects('must name the source object {S2.9 S12.1}', {}, 'property objectId is required'),
    ...hostileObjectIds.map((objectId) =>
      rejects(
        `never puts an objectId that is not a GUID into a path: ${shown(objectId)}`,
        { properties: { objectId } },
        `property objectId ${objectIdFault}`,
      ),
    ),
    ...hostileModels.map((model) =>
      rejects(
        `never puts a model into a path that is not one path segment: ${shown(model)}`,
        { properties: { objectId: pumpId, model } },
        `property model ${modelFault}`,
      ),
    ),
  ],

  'lost answers': [
    row('repeats a call whose answer was lost under the same key, without a further change', { properties, body }, ok, [
      { ...creates, headers: { 'idempotency-key': idempotencyKey(post) }, reply: 'lost' },
      { ...creates, headers: { 'idempotency-key': idempotencyKey(post) }, reply: [200, { data: [known] }] },
    ]),
    row('reports the reason when the repeat is refused', { properties, body }, refusal('HTTP 404: Not found'), [
      { ...creates, reply: 'lost' },
      { ...creates, reply: problem(404, 'Not found') },
    ]),
  ],
});
