import { idempotencyKey } from '../support/events.ts';
import type { ScriptedCall } from '../support/scriptedBackend.ts';
import { device, devicePrincipal, problem, sensorPrincipal } from '../support/world.ts';
import { finds, findsNothing, identityRows, sensor, unknownIdentity } from './identityRows.ts';
import { messageTable } from './table/messageTable.ts';
import { row } from './table/row.ts';

const put = `PUT /devices/${sensorPrincipal}`;
const updates = (body: unknown, call = put): ScriptedCall => ({ call, body, reply: [200, sensor] });

const properties = { parent: 'edge' };
const body = { identity: 'sensor-1', publicKey: 'MIIB' };
const sent = { properties, body };
const updatesDevice = (body: string) => updates(body, `PUT /devices/${devicePrincipal}`);
const updated = updates(JSON.stringify(body));
const ok = (parent = 'edge', identity = 'sensor-1') => ({ success: true, code: 'ok', details: '', parent, identity });
const failed = (code: string, details: unknown) => ({ success: false, code, details });
const unknown = failed('http_response_error', unknownIdentity);
const refusal = (words: string) =>
  failed('http_response_error', `principal manager: update identity failed with ${words}: as it is`);
/** Each takes two bytes of the acknowledgement. */
const quotes = '"'.repeat(32_680);

const sample = { properties, body, backend: [finds(), updated], ack: ok(), failed };

messageTable('V2', 'identity.update', sample, {
  identity: identityRows(failed),

  update: [
    row('updates an identity below the header’s parent, with the body as sent {S1.1 S13.1 S13.5 S13.12}', sent, ok(), [
      finds(),
      updated,
    ]),
    row('updates an identity directly below the device when the header names no parent {S13.1}', { body }, ok(''), [
      finds('GET /devices?device=d1&identity=sensor-1', { ...sensor, path: 'd1/sensor-1' }),
      updated,
    ]),
    row('treats an empty parent as the device itself', { properties: { parent: '' }, body }, ok(''), [
      finds('GET /devices?device=d1&identity=sensor-1'),
      updated,
    ]),
    row(
      'updates the directly connected device itself when the body names no identity {S13.4}',
      { body: { publicKey: 'MIIB' } },
      ok('', ''),
      [device, updatesDevice('{"publicKey":"MIIB"}')],
    ),
    row(
      'ignores the parent when the body names no identity, but repeats it {S13.2 S13.12}',
      { properties, body: { publicKey: 'MIIB' } },
      ok('edge', ''),
      [device, updatesDevice('{"publicKey":"MIIB"}')],
    ),
    row(
      'ignores a parent that is no path as well when the body names no identity {S13.2}',
      { properties: { parent: '../d2' }, body: { publicKey: 'MIIB' } },
      ok('../d2', ''),
      [device, updatesDevice('{"publicKey":"MIIB"}')],
    ),
    row(
      'finds one several levels down {S7.3}',
      { properties: { parent: 'edge/line 1/ü' }, body },
      ok('edge/line 1/ü'),
      [finds('GET /devices?device=d1&path=edge%2Fline%201%2F%C3%BC&identity=sensor-1'), updated],
    ),
    row(
      'passes the body on byte for byte: 64-bit integers, 1.0, the order of keys, white space {S13.3}',
      {
        properties,
        body: '{ "publicKey":"MI\\u0049B","2":12345678901234567890, "1":1.0,"x":1e400,"identity":"sensor-1"\n}',
      },
      ok(),
      [
        finds(),
        updates('{ "publicKey":"MI\\u0049B","2":12345678901234567890, "1":1.0,"x":1e400,"identity":"sensor-1"\n}'),
      ],
    ),
    row('succeeds again with the same request {S13.8}', sent, ok(), [finds(), updated]),
    row('sends no notification of it {S13.10}', { properties: { ...properties, ack: undefined }, body }, undefined, [
      finds(),
      updated,
    ]),
  ],

  'acknowledgement, of its own': [
    row(
      'repeats the context of the request {S13.11}',
      { properties: { ...properties, context: 'user ü\r\n' }, body, ackProperties: { context: 'user ü\r\n' } },
      ok(),
      [finds(), updated],
    ),
    row(
      'repeats the context of a request that fails {S13.11}',
      { properties: { ...properties, context: 'user' }, body, ackProperties: { context: 'user' } },
      unknown,
      [findsNothing()],
    ),
    row(
      'repeats the context of a request whose properties are refused',
      { properties: { version: 3, context: 'user' }, body, ackProperties: { context: 'user' } },
      failed('validation_error', 'property version must be 2'),
    ),
    row(
      'repeats the context of a request whose compression is broken {S13.13}',
      {
        properties: { ...properties, context: 'user', 'content-encoding': 'gzip' },
        body: 'not gzip',
        ackProperties: { context: 'user' },
      },
      failed('decompression_error', 'body is neither gzip data nor base64 text of it'),
    ),
    row(
      'is compressed without a request when it would not fit otherwise {S13.13}',
      { properties: { parent: quotes }, body: { publicKey: 'MIIB' }, ackProperties: { 'content-encoding': 'gzip' } },
      ok(quotes, ''),
      [device, updatesDevice('{"publicKey":"MIIB"}')],
    ),
  ],

  refused: [
    row('refuses an identity that is not below the device {S13.1 S13.7 S13.12}', sent, unknown, [findsNothing()]),
    row('refuses a device that has no identity itself {S13.7}', { body: { publicKey: 'MIIB' } }, unknown, [
      findsNothing(device.call),
    ]),
    row(
      'reports what the principal manager refuses {S13.3}',
      { properties, body: { ...body, publicKey: 7 } },
      refusal('HTTP 400: Validation failed'),
      [
        finds(),
        { call: put, body: JSON.stringify({ ...body, publicKey: 7 }), reply: problem(400, 'Validation failed') },
      ],
    ),
    row('reports an identity that was deleted before it could be updated', sent, refusal('HTTP 404: Not found'), [
      finds(),
      { call: put, reply: problem(404, 'Not found') },
    ]),
    row('reads no __proto__ key', { properties, body: '{"__proto__":{"identity":"sensor-1"}}' }, ok('edge', ''), [
      device,
      updatesDevice('{"__proto__":{"identity":"sensor-1"}}'),
    ]),
  ],

  'lost answers': [
    row('repeats an update whose answer was lost under the same idempotency key', sent, ok(), [
      finds(),
      { ...updated, headers: { 'idempotency-key': idempotencyKey(put) }, reply: 'lost' },
      { ...updated, headers: { 'idempotency-key': idempotencyKey(put) } },
    ]),
    row('repeats a look-up whose answer was lost', sent, ok(), [{ ...finds(), reply: 'lost' }, finds(), updated]),
  ],
});
