import { idempotencyKey } from '../../support/events.ts';
import {
  derivedObjectId,
  otherPumpId,
  problem,
  pump,
  pumpAnswer,
  pumpId,
  pumpType,
  sensorPrincipal,
} from '../../support/world.ts';
import type { Row } from '../table/row.ts';
import {
  absent,
  claimPump,
  claims,
  deviceRow,
  isNew,
  lookUp,
  newRow,
  pumpRow,
  type Registration,
  stored,
  unowned,
} from './registration.ts';

const exists = (objectId: string, type: string) => problem(409, 'Exists', { objectId, type });
const readDerived = `GET /objects/${derivedObjectId}/models/svc.device`;
const others = { ...isNew, ownerId: sensorPrincipal };
const mismatch = problem(409, 'Version mismatch', { version: 2 });

/** The message is handled again: another process may have handled it to its end. */
export function repeatedRows({ named, created, updated }: Registration): readonly Row[] {
  const { sent, creates, updates } = named();
  const rows = [
    pumpRow(
      'creates again, and gets the first answer, when it may be the creator of the model it finds',
      sent,
      created(),
      [stored({ version: 3 }), creates],
    ),
    pumpRow(
      'updates the model it finds when the repeat shows that another created it, also of another type',
      sent,
      updated(pump({ version: 4 })),
      [stored({ version: 3, type: 'tank@1.0.0' }), { ...creates, reply: exists(pumpId, 'tank@1.0.0') }, updates(3)],
    ),
    pumpRow(
      'updates the model it finds although an answer to the creation was lost, since the model existed before',
      sent,
      updated(pump({ version: 4 })),
      [
        stored({ version: 3 }),
        { ...creates, reply: 'lost' },
        { ...creates, reply: exists(pumpId, 'pump@1.0.0') },
        updates(3),
      ],
    ),
  ];
  return rows.map((row) => ({ ...row, redelivered: true }));
}

/** Somebody else does the same a moment earlier. */
export function raceRows({ named, unnamed, created, updated, refused }: Registration): readonly Row[] {
  const { sent, creates, updates } = named();
  const nameless = unnamed();
  const bare = unnamed({ type: 'pump' });
  return [
    pumpRow('updates the model that another created just before {S9.10}', sent, updated(), [
      absent,
      { ...creates, reply: exists(pumpId, 'pump@1.0.0') },
      stored(),
      updates(1),
    ]),
    pumpRow(
      'updates the model of those unique properties that another just created',
      nameless.sent,
      updated(pump({ version: 4 })),
      [
        pumpType,
        lookUp(),
        { ...nameless.creates, reply: exists(pumpId, 'pump@2.0.0') },
        stored({ version: 3 }),
        nameless.updates(3),
      ],
    ),
    pumpRow('claims the model that another created just before without an owner', sent, updated(), [
      absent,
      { ...creates, reply: problem(409, 'Exists') },
      unowned,
      claims(),
      updates(1),
    ]),
    deviceRow('reports a conflict with a model of another type', sent, refused('create', 'HTTP 409: Exists'), [
      absent,
      { ...creates, reply: exists(otherPumpId, 'tank@1.0.0') },
    ]),
    deviceRow(
      'updates no other object than the one it names, although that one has its unique properties {S9.6}',
      sent,
      refused('create', 'HTTP 409: Exists'),
      [absent, { ...creates, reply: exists(otherPumpId, 'pump@1.0.0') }, absent],
    ),
    deviceRow(
      'reports a conflict with a model that no longer exists',
      nameless.sent,
      refused('create', 'HTTP 409: Exists'),
      [pumpType, lookUp(), { ...nameless.creates, reply: exists(pumpId, 'pump@1.0.0') }, absent],
    ),
    newRow('answers a conflict with its own earlier creation as created', bare.sent, created(pump(isNew)), [
      pumpType,
      { ...bare.creates, reply: exists(derivedObjectId, 'pump@1.0.0') },
      { call: readDerived, reply: [200, pump(isNew)] },
    ]),
    newRow('updates its own creation when another owns it now', bare.sent, updated(pump({ ...others, version: 2 })), [
      pumpType,
      { ...bare.creates, reply: exists(derivedObjectId, 'pump@1.0.0') },
      { call: readDerived, reply: [200, pump(others)] },
      {
        ...bare.updates(1),
        call: readDerived.replace('GET', 'PUT'),
        reply: [200, pumpAnswer({ ...others, version: 2 })],
      },
    ]),
    newRow(
      'creates again, and updates nothing, when it finds its own earlier model',
      nameless.sent,
      created(pump(isNew)),
      [pumpType, lookUp(pump(isNew)), nameless.creates],
    ),
    pumpRow('reads again and retries when the version changed under an update', sent, updated(pump({ version: 3 })), [
      stored({ version: 1 }),
      { ...updates(1), reply: mismatch },
      stored({ version: 2 }),
      updates(2),
    ]),
    pumpRow('does not claim again what it has claimed before it lost a race', sent, updated(pump({ version: 3 })), [
      unowned,
      claims(),
      { ...updates(1), reply: mismatch },
      stored({ version: 2 }),
      updates(2),
    ]),
    deviceRow(
      'reports the lost race when the model was deleted before it could be read again',
      sent,
      refused('replace', 'HTTP 409: Version mismatch'),
      [stored(), { ...updates(1), reply: mismatch }, absent],
    ),
    deviceRow('gives up after five lost races', sent, refused('replace', 'HTTP 409: Version mismatch'), [
      ...[1, 2, 3, 4, 5].flatMap((version) => [stored({ version }), { ...updates(version), reply: mismatch }]),
    ]),
  ];
}

/** The effect is there, but nobody knows. */
export function lostAnswerRows({ named, created, updated, failed }: Registration): readonly Row[] {
  const { sent, creates, updates } = named();
  const keyed = { headers: { 'idempotency-key': idempotencyKey(creates.call) } };
  const claimKey = { headers: { 'idempotency-key': idempotencyKey(claimPump) } };
  const exists = problem(409, 'Exists', { objectId: pumpId, type: 'pump@1.0.0' });
  const others = { ownerId: sensorPrincipal, path: 'd1/edge/sensor-1' };
  const own = { version: 2, name: 'Feed pump', variables: { speed: 3 } };
  return [
    pumpRow('repeats a creation whose answer was lost under the same idempotency key', sent, created(), [
      absent,
      { ...creates, ...keyed, reply: 'lost' },
      { ...creates, ...keyed },
    ]),
    pumpRow(
      'reports success for its own creation when the repeat meets a model of its type and owner',
      sent,
      created(),
      [absent, { ...creates, reply: 'lost' }, { ...creates, reply: exists }, stored()],
    ),
    pumpRow('updates another owner’s model that the repeat meets', sent, updated(pump({ version: 2, ...others })), [
      absent,
      { ...creates, reply: 'lost' },
      { ...creates, reply: exists },
      stored(others),
      stored(others),
      { ...updates(1), reply: [200, pumpAnswer({ version: 2, ...others })] },
    ]),
    pumpRow('continues after its own claim when the repeat of the claim is refused', sent, updated(), [
      unowned,
      { ...claims(), ...claimKey, reply: 'lost' },
      { ...claims(), ...claimKey, reply: problem(409, 'Owned') },
      stored(),
      updates(1),
    ]),
    deviceRow(
      'is not authorized when the claim of another came before its own lost one',
      sent,
      failed(
        'not_authorized',
        'information model: claim object model failed with HTTP 409: Owned by another: as it is',
      ),
      [
        unowned,
        { ...claims(), reply: 'lost' },
        { ...claims(), reply: problem(409, 'Owned by another') },
        stored({ ownerId: sensorPrincipal }),
      ],
    ),
    pumpRow('reports success for its own update when the repeat meets its own version', sent, updated(pump(own)), [
      stored(),
      { ...updates(1), reply: 'lost' },
      { ...updates(1), reply: problem(409, 'Version mismatch', { version: 2 }) },
      stored(own),
    ]),
  ];
}
