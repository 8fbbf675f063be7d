import { expect } from 'vitest';
import { everyAction } from '../support/everyAction.ts';
import { hostileIdentities, hostilePaths, hostilePrincipals, pathFault, shown } from '../support/hostileNames.ts';
import { idempotencyKey } from '../support/idempotencyKey.ts';
import { messageTable, type Row } from '../support/messageTable.ts';
import type { ScriptedCall } from '../support/scriptedBackend.ts';
import { identityWithId, P, problem, Q } from '../support/world.ts';

const sensor = { id: Q, identity: 'sensor-1', path: 'd1/edge/sensor-1', parentId: P };
const resolve = 'GET /devices?device=d1&path=edge&identity=sensor-1';
const finds = (call = resolve): ScriptedCall => ({ call, reply: [200, { data: [sensor] }] });
const findsNothing = (call = resolve): ScriptedCall => ({ call, reply: [200, { data: [] }] });
const del = `DELETE /devices/${Q}`;
const deletes: ScriptedCall = { call: del, reply: [204] };

const properties = { parent: 'edge' };
const body = { identity: 'sensor-1' };
const ok = (parent = 'edge') => ({ success: true, code: 'ok', detail: '', parent, identity: 'sensor-1' });
const failed = (code: string, detail: unknown) => ({ success: false, code, detail });
const unknown = failed('http_response_error', 'the principal manager knows no such identity below this device');
const refusal = (words: string) =>
  failed('http_response_error', `principal manager: delete identity failed with ${words}: as it is`);
const rejects = (it: string, given: Partial<Row>, detail: string): Row => ({
  it,
  properties,
  body,
  ...given,
  ack: failed('validation_error', detail),
});

messageTable('V2', 'identity.delete', {
  ...everyAction({ action: 'identity.delete', properties, body, backend: [finds(), deletes], ack: ok(), failed }),

  deletion: [
    {
      it: 'deletes an identity below the parent of the header; the acknowledgement says "detail", not "details"',
      properties,
      body,
      backend: [finds(), deletes],
      ack: { success: true, code: 'ok', detail: '', parent: 'edge', identity: 'sensor-1' },
    },
    {
      it: 'deletes an identity right below the device when the header names no parent',
      body,
      backend: [finds('GET /devices?device=d1&identity=sensor-1'), deletes],
      ack: ok(''),
    },
    {
      it: 'says "detail" also when a message of this action is refused before it is looked into',
      properties: { version: 1 },
      body,
      ack: { success: false, code: 'validation_error', detail: 'property version must be 2' },
    },
    {
      it: 'makes nothing of other keys in the body',
      properties,
      body: { ...body, id: P, parent: 'elsewhere' },
      backend: [finds(), deletes],
      ack: ok(),
    },
    {
      it: 'sends no notification of the identity',
      properties: { ...properties, ack: undefined },
      body,
      backend: [finds(), deletes],
      ack: undefined,
    },
  ],

  refused: [
    {
      it: 'rejects the second deletion: the identity is not there any more',
      properties,
      body,
      backend: [findsNothing()],
      ack: unknown,
    },
    {
      it: 'rejects the deletion of an identity that somebody else deleted a moment earlier',
      properties,
      body,
      backend: [finds(), { call: del, reply: problem(404, 'Not found') }],
      ack: refusal('HTTP 404: Not found'),
    },
    {
      it: 'says the same of an identity that is connected through another device',
      device: 'd2',
      properties,
      body,
      backend: [
        {
          ...findsNothing('GET /devices?device=d2&path=edge&identity=sensor-1'),
          headers: { 'x-svc-device-id': 'd2' },
        },
      ],
      ack: unknown,
    },
    {
      it: 'does not find the directly connected device under its own name',
      body: { identity: 'd1' },
      backend: [findsNothing('GET /devices?device=d1&identity=d1')],
      ack: unknown,
    },
    {
      it: 'reports an identity through which others are connected',
      properties,
      body,
      backend: [finds(), { call: del, reply: problem(409, 'Has children') }],
      ack: refusal('HTTP 409: Has children'),
    },
    rejects('never deletes the device itself: a body must name an identity', { body: {} }, 'body.identity is required'),
    rejects('never takes the parent alone for an identity', { body: { publicKey: 'x' } }, 'body.identity is required'),
    ...[
      ['', 'must not be empty'],
      [7, 'must be text'],
      [null, 'must be text'],
      [['sensor-1'], 'must be text'],
    ].map(([identity, fault]) =>
      rejects(
        `must name an identity by text: ${JSON.stringify(identity)}`,
        { body: { identity } },
        `body.identity ${fault}`,
      ),
    ),
    rejects(
      'refuses an identity that is no Unicode text',
      { body: '{"identity":"\\ud800"}' },
      'body.identity must be Unicode text',
    ),
    rejects('refuses a body that is no object', { body: '"sensor-1"' }, 'body must be a JSON object'),
    rejects(
      'refuses a body in which identity occurs twice',
      { body: '{"identity":"sensor-1","identity":"sensor-2"}' },
      'body.identity occurs twice',
    ),
    rejects(
      'reads no identity from a __proto__ key',
      { body: '{"__proto__":{"identity":"sensor-1"}}' },
      'body.identity is required',
    ),
    ...hostilePrincipals.map((id) => ({
      it: `is our trouble, not the device’s, when the identity’s id is no segment of a path: ${shown(id)}`,
      properties,
      body,
      backend: [identityWithId(id, resolve)],
      ack: failed('internal_platform_error', expect.stringMatching(/^internal error, incident [0-9a-f-]{36}$/)),
    })),
    ...hostilePaths.map((parent) =>
      rejects(
        `refuses a parent with empty or climbing names or control characters: ${shown(parent)}`,
        { properties: { parent } },
        `property parent ${pathFault}`,
      ),
    ),
    ...hostileIdentities.map(
      ([identity, encoded]): Row => ({
        it: `never splits an identity: ${shown(identity)} is one name`,
        properties,
        body: { identity },
        backend: [findsNothing(`GET /devices?device=d1&path=edge&identity=${encoded}`)],
        ack: unknown,
      }),
    ),
  ],

  'repeats after a crash': [
    {
      it: 'is a success when the identity is not there and this very message may have deleted it',
      redelivered: true,
      properties,
      body,
      backend: [findsNothing()],
      ack: ok(),
    },
    {
      it: 'is a success when the identity was there a moment earlier and this very message may have deleted it',
      redelivered: true,
      properties,
      body,
      backend: [finds(), { call: del, reply: problem(404, 'Not found') }],
      ack: ok(),
    },
    {
      it: 'deletes an identity that is still there',
      redelivered: true,
      properties,
      body,
      backend: [finds(), deletes],
      ack: ok(),
    },
  ],

  'lost answers': [
    {
      it: 'reports success for its own deletion when the repeat finds nothing any more',
      properties,
      body,
      backend: [
        finds(),
        { ...deletes, headers: { 'idempotency-key': idempotencyKey(del) }, reply: 'lost' },
        { ...deletes, headers: { 'idempotency-key': idempotencyKey(del) }, reply: problem(404, 'Not found') },
      ],
      ack: ok(),
    },
    {
      it: 'repeats a deletion that did not arrive',
      properties,
      body,
      backend: [finds(), { ...deletes, reply: 'refused' }, deletes],
      ack: ok(),
    },
    {
      it: 'does not claim a deletion that it never sent',
      properties,
      body,
      backend: [finds(), { ...deletes, reply: 'refused' }, { ...deletes, reply: problem(404, 'Not found') }],
      ack: refusal('HTTP 404: Not found'),
    },
  ],
});
