import { gzipSync } from 'node:zlib';
import { idempotencyKey } from '../support/events.ts';
import { hostileModels, modelFault, shown } from '../support/hostileNames.ts';
import type { ScriptedReply } from '../support/scriptedBackend.ts';
import { problem } from '../support/world.ts';
import { messageTable } from './table/messageTable.ts';
import { type Row, row } from './table/row.ts';

const types = '/modelDefinitions/svc.device/types';
const post = `POST ${types}`;
const body = {
  typeId: 'pump',
  version: '1.0.0',
  unique: ['serial'],
  properties: { serial: { dataType: 'string', isMandatory: true, description: 'on the plate' } },
  methods: { stop: { description: 'stops' } },
  relatedModels: { 'svc.history': { type: 'pump.history', uniqueMapping: { serial: 'pumpSerial' } } },
};
const stored = { ...body, model: 'svc.device', uniqueProperties: ['serial'] };

const ok = (more: object = {}) => ({
  ...{ success: true, code: 'ok', details: '', typeId: 'pump', model: 'svc.device', version: '1.0.0' },
  ...more,
});
const failed = (code: string, details: unknown) => ({ success: false, code, details });
const refusal = (words: string) =>
  failed('http_response_error', `type registry: create type definition failed with ${words}: as it is`);
const tooLarge = (bytes: number) => failed('validation_error', `body has ${bytes} bytes, more than the limit of 65536`);

const creates = (it: string, body: unknown, reply: ScriptedReply, ack: Row['ack']): Row =>
  row(it, { body }, ack, [{ call: post, ...(typeof body === 'string' && { body }), reply }]);
const refuses = (it: string, title: string, body: object): Row =>
  creates(it, JSON.stringify(body), problem(400, title), refusal(`HTTP 400: ${title}`));

/** A type definition of so many bytes of UTF-8; the characters are fewer. */
function definitionOf(bytes: number): string {
  const [before, after] = [JSON.stringify(body).slice(0, -1), '}'];
  const filler = bytes - before.length - ',"description":""'.length - after.length;
  return `${before},"description":"ü${'x'.repeat(filler - 2)}"${after}`;
}

const compressed = { properties: { 'content-encoding': 'gzip' }, ackProperties: { 'content-encoding': 'gzip' } };

const sample = {
  body,
  backend: [{ call: post, body: JSON.stringify(body), reply: [201, stored] } as const],
  ack: ok(),
  failed,
};

messageTable('V2', 'type.create', sample, {
  creation: [
    creates(
      'creates the type definition in the registry and answers its typeId, model and version {S1.1 S11.1 S11.2 S11.5}',
      JSON.stringify(body),
      [201, stored],
      ok(),
    ),
    row(
      'creates the type in the model definition that the header names {S11.1}',
      { properties: { model: 'svc.configuration' }, body },
      ok({ model: 'svc.configuration' }),
      [
        {
          call: 'POST /modelDefinitions/svc.configuration/types',
          body: JSON.stringify(body),
          reply: [201, { ...stored, model: 'svc.configuration' }],
        },
      ],
    ),
    creates(
      'creates a new version of a type that exists {S11.3 S22.3}',
      JSON.stringify({ ...body, version: '2.10.0' }),
      [201, { ...stored, version: '2.10.0' }],
      ok({ version: '2.10.0' }),
    ),
    creates(
      'passes the body on byte for byte: 64-bit integers, 1.0, the order of keys, white space',
      '{ "version":"1.0.0","typeId":"pump", "properties":{"2":{"dataType":"integer","default":12345678901234567890},"1":{"dataType":"number","default":1.0}}\n}',
      [201, stored],
      ok(),
    ),
    row('sends no notification of the type {S11.4}', { properties: { ack: undefined }, body }, undefined, [
      { call: post, reply: [201, stored] },
    ]),
  ],

  size: [
    creates('accepts a type definition of exactly 65,536 bytes {S11.6}', definitionOf(65_536), [201, stored], ok()),
    row('refuses one byte more, and names the limit {S11.6 S21.1}', { body: definitionOf(65_537) }, tooLarge(65_537)),
    row(
      'counts the decompressed size: one byte more is refused, however small it is compressed',
      { ...compressed, body: gzipSync(definitionOf(65_537)).toString('base64') },
      tooLarge(65_537),
    ),
    row(
      'does not count the base64 text around a definition that is small enough',
      { ...compressed, body: gzipSync(definitionOf(65_536), { level: 0 }).toString('base64') },
      ok(),
      [{ call: post, body: definitionOf(65_536), reply: [201, stored] }],
    ),
    row(
      'refuses a body over the limit before it is completely decompressed',
      { properties: { 'content-encoding': 'gzip' }, body: gzipSync(Buffer.alloc(524_289)) },
      failed('decompression_error', 'body is larger than 524288 bytes when decompressed'),
    ),
  ],

  refused: [
    creates(
      'rejects a type whose typeId and version exist already: a type version is never updated {S11.3 S11.5 S20.3}',
      JSON.stringify(body),
      problem(409, 'Exists', { typeId: 'pump', version: '1.0.0' }),
      refusal('HTTP 409: Exists'),
    ),
    refuses('leaves a definition without typeId to the registry, which refuses it', 'Validation failed', {
      version: '1.0.0',
    }),
    refuses('passes a version that is not three numbers to the registry', 'Validation failed', {
      ...body,
      version: '1.0',
    }),
    refuses('refuses a change that drops a unique property {S5.11}', 'Invalid modification', { ...body, unique: [] }),
    refuses('refuses a base type that changes the uniqueness group {S20.6}', 'Invalid modification', {
      ...body,
      version: '2.0.0',
      baseTypes: ['note@1.0.0'],
    }),
    creates(
      'passes a body that is not an object to the registry unchanged {S11.2}',
      '[1]',
      problem(400, 'Validation failed'),
      refusal('HTTP 400: Validation failed'),
    ),
    ...['typeId', 'version'].map((key) =>
      row(
        `refuses a body in which ${key} occurs twice`,
        { body: `{"${key}":"1.0.0","${key}":"1.0.1"}` },
        failed('validation_error', `body.${key} occurs twice`),
      ),
    ),
    ...hostileModels.map((model) =>
      row(
        `never puts a model into a path that is not one path segment: ${shown(model)}`,
        { properties: { model }, body },
        failed('validation_error', `property model ${modelFault}`),
      ),
    ),
  ],

  'lost answers': [
    row('repeats a creation whose answer was lost under the same idempotency key', { body }, ok(), [
      { call: post, headers: { 'idempotency-key': idempotencyKey(post) }, reply: 'lost' },
      { call: post, headers: { 'idempotency-key': idempotencyKey(post) }, reply: [201, stored] },
    ]),
    row('reports success for its own creation when the repeat meets the same content {S11.3}', { body }, ok(), [
      { call: post, reply: 'lost' },
      { call: post, reply: problem(409, 'Exists') },
      { call: `GET ${types}/pump/versions/1.0.0`, reply: [200, stored] },
    ]),
    ...(
      [
        ['with other content', { ...stored, methods: {} }],
        ['without all that was sent', { ...stored, methods: undefined }],
      ] as const
    ).map(([how, found]) =>
      row(`is rejected when the repeat meets the version ${how}`, { body }, refusal('HTTP 409: Exists'), [
        { call: post, reply: 'lost' },
        { call: post, reply: problem(409, 'Exists') },
        { call: `GET ${types}/pump/versions/1.0.0`, reply: [200, found] },
      ]),
    ),
    row('is rejected when the version that the repeat meets cannot be read', { body }, refusal('HTTP 409: Exists'), [
      { call: post, reply: 'lost' },
      { call: post, reply: problem(409, 'Exists') },
      { call: `GET ${types}/pump/versions/1.0.0`, reply: problem(404, 'Not found') },
    ]),
    ...[
      { ...body, typeId: '..' },
      { ...body, typeId: 'a/b' },
      { ...body, typeId: '%2e%2e' },
      { ...body, typeId: 'pump@1' },
      { ...body, typeId: 7 },
      { ...body, version: undefined },
      { ...body, version: '2' },
      { ...body, version: '..' },
      { ...body, version: '1.0.0/..' },
    ].map((hostile) =>
      row(
        `never reads a version back whose name is not that of a full version: ${shown(`${hostile.typeId} ${hostile.version}`)}`,
        { body: hostile },
        refusal('HTTP 409: Exists'),
        [{ call: post, reply: 'lost' } as const, { call: post, reply: problem(409, 'Exists') }],
      ),
    ),
    row('does not read back without a lost answer: it is another’s', { body }, refusal('HTTP 409: Exists'), [
      { call: post, reply: 'refused' },
      { call: post, reply: problem(409, 'Exists') },
    ]),
  ],
});
