import { idempotencyKey } from '../../support/events.ts';
import { problem, pump, pumpAnswer, pumpId, sensorPrincipal } from '../../support/world.ts';
import type { Row } from '../table/row.ts';
import { absent, claimPump, claims, deviceRow, pumpRow, type Registration, stored, unowned } from './registration.ts';

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
    pumpRow(
      'updates the model of another owner that the repeat meets',
      sent,
      updated(pump({ version: 2, ...others })),
      [
        absent,
        { ...creates, reply: 'lost' },
        { ...creates, reply: exists },
        stored(others),
        stored(others),
        { ...updates(1), reply: [200, pumpAnswer({ version: 2, ...others })] },
      ],
    ),
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
    pumpRow(
      'reports success for its own update when the repeat meets the version it has written itself',
      sent,
      updated(pump(own)),
      [
        stored(),
        { ...updates(1), reply: 'lost' },
        { ...updates(1), reply: problem(409, 'Version mismatch', { version: 2 }) },
        stored(own),
      ],
    ),
  ];
}
