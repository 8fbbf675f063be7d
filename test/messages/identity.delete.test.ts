import { idempotencyKey } from '../support/events.ts';
import type { ScriptedCall } from '../support/scriptedBackend.ts';
import { devicePrincipal, problem, sensorPrincipal } from '../support/world.ts';
import { finds, findsNothing, identityRows, unknownIdentity } from './identityRows.ts';
import { messageTable } from './table/messageTable.ts';
import { type Row, row } from './table/row.ts';

const del = `DELETE /devices/${sensorPrincipal}`;
const deletes: ScriptedCall = { call: del, reply: [204] };

const properties = { parent: 'edge' };
const body = { identity: 'sensor-1' };
const sent = { properties, body };
const again = { ...sent, redelivered: true };
const ok = (parent = 'edge') => ({ success: true, code: 'ok', detail: '', parent, identity: 'sensor-1' });
const failed = (code: string, detail: unknown) => ({ success: false, code, detail });
const unknown = failed('http_response_error', unknownIdentity);
const refusal = (words: string) =>
  failed('http_response_error', `principal manager: delete identity failed with ${words}: as it is`);
const rejects = (it: string, given: Partial<Row>, detail: string): Row => ({
  it,
  properties,
  body,
  ...given,
  ack: failed('validation_error', detail),
});

const sample = { properties, body, backend: [finds(), deletes], ack: ok(), failed };

messageTable('V2', 'identity.delete', sample, {
  identity: identityRows(failed),

  deletion: [
    row(
      'deletes an identity below the parent of the header; the acknowledgement says "detail", not "details" {S14.2 S14.7}',
      sent,
      { success: true, code: 'ok', detail: '', parent: 'edge', identity: 'sensor-1' },
      [finds(), deletes],
    ),
    row('deletes an identity directly below the device when the header names no parent {S14.2}', { body }, ok(''), [
      finds('GET /devices?device=d1&identity=sensor-1'),
      deletes,
    ]),
    row(
      'has "detail" also when a message of this action is refused before its body is read {S14.7}',
      { properties: { version: 1 }, body },
      { success: false, code: 'validation_error', detail: 'property version must be 2' },
    ),
    row(
      'ignores other keys in the body {S14.3}',
      { properties, body: { ...body, id: devicePrincipal, parent: 'elsewhere' } },
      ok(),
      [finds(), deletes],
    ),
    row('sends no notification of it {S14.6}', { properties: { ...properties, ack: undefined }, body }, undefined, [
      finds(),
      deletes,
    ]),
  ],

  refused: [
    row('rejects the second deletion, since it is gone {S14.5 S14.7 S20.4}', sent, unknown, [findsNothing()]),
    row('never deletes the device itself, whatever the answer says of it {S14.1}', sent, unknown, [
      finds(undefined, { id: devicePrincipal, identity: 'sensor-1', path: 'd1', parentId: devicePrincipal }),
    ]),
    row('rejects the deletion of an identity that another deleted just before', sent, refusal('HTTP 404: Not found'), [
      finds(),
      { call: del, reply: problem(404, 'Not found') },
    ]),
    row('does not find the connected device under its own name {S14.1}', { body: { identity: 'd1' } }, unknown, [
      findsNothing('GET /devices?device=d1&identity=d1'),
    ]),
    row('reports an identity through which others are connected {S14.3}', sent, refusal('HTTP 409: Has children'), [
      finds(),
      { call: del, reply: problem(409, 'Has children') },
    ]),
    rejects('never deletes the device itself {S14.1 S14.3}', { body: {} }, 'body.identity is required'),
    rejects('never takes a parent for an identity {S14.2}', { body: { publicKey: 'x' } }, 'body.identity is required'),
    rejects('reads no __proto__ key', { body: '{"__proto__":{"identity":"sensor-1"}}' }, 'body.identity is required'),
  ],

  'repeats after a crash': [
    row('is a success when the identity does not exist and this message may have deleted it', again, ok(), [
      findsNothing(),
    ]),
    row('is a success when the identity existed just before and this message may have deleted it', again, ok(), [
      finds(),
      { call: del, reply: problem(404, 'Not found') },
    ]),
    row('deletes an identity that still exists', again, ok(), [finds(), deletes]),
  ],

  'lost answers': [
    row('reports success for its own deletion when the repeat finds no identity', sent, ok(), [
      finds(),
      { ...deletes, headers: { 'idempotency-key': idempotencyKey(del) }, reply: 'lost' },
      { ...deletes, headers: { 'idempotency-key': idempotencyKey(del) }, reply: problem(404, 'Not found') },
    ]),
    row('repeats a deletion that did not arrive', sent, ok(), [finds(), { ...deletes, reply: 'refused' }, deletes]),
    row('does not claim a deletion that it never sent', sent, refusal('HTTP 404: Not found'), [
      finds(),
      { ...deletes, reply: 'refused' },
      { ...deletes, reply: problem(404, 'Not found') },
    ]),
  ],
});
