import { idempotencyKey } from '../../support/events.ts';
import { device, problem, pump, pumpAnswer, pumpId, sensorPrincipal } from '../../support/world.ts';
import type { Row } from '../table/row.ts';
import { absent, claimPump, claims, forPump, type Registration, stored, unowned } from './registration.ts';

/** The effect is there, but nobody knows. */
export function lostAnswerRows({ named, created, updated, failed }: Registration): readonly Row[] {
  const { sent, creates, updates } = named();
  const keyed = { headers: { 'idempotency-key': idempotencyKey(creates.call) } };
  const claimKey = { headers: { 'idempotency-key': idempotencyKey(claimPump) } };
  const exists = problem(409, 'Exists', { objectId: pumpId, type: 'pump@1.0.0' });
  const others = { ownerId: sensorPrincipal, path: 'd1/edge/sensor-1' };
  const own = { version: 2, name: 'Feed pump', variables: { speed: 3 } };
  return [
    {
      it: 'repeats a creation whose answer was lost under the same idempotency key',
      ...sent,
      backend: forPump(absent, { ...creates, ...keyed, reply: 'lost' }, { ...creates, ...keyed }),
      ...created(),
    },
    {
      it: 'reports success for its own creation when the repeat meets a model of its type and owner',
      ...sent,
      backend: forPump(absent, { ...creates, reply: 'lost' }, { ...creates, reply: exists }, stored()),
      ...created(),
    },
    {
      it: 'updates the model of another owner that the repeat meets',
      ...sent,
      backend: forPump(
        absent,
        { ...creates, reply: 'lost' },
        { ...creates, reply: exists },
        stored(others),
        stored(others),
        { ...updates(1), reply: [200, pumpAnswer({ version: 2, ...others })] },
      ),
      ...updated(pump({ version: 2, ...others })),
    },
    {
      it: 'continues after its own claim when the repeat of the claim is refused',
      ...sent,
      backend: forPump(
        unowned,
        { ...claims(), ...claimKey, reply: 'lost' },
        { ...claims(), ...claimKey, reply: problem(409, 'Owned') },
        stored(),
        updates(1),
      ),
      ...updated(),
    },
    {
      it: 'is not authorized when the claim of another came before its own lost one',
      ...sent,
      backend: [
        device,
        unowned,
        { ...claims(), reply: 'lost' },
        { ...claims(), reply: problem(409, 'Owned by another') },
        stored({ ownerId: sensorPrincipal }),
      ],
      ...failed(
        'not_authorized',
        'information model: claim object model failed with HTTP 409: Owned by another: as it is',
      ),
    },
    {
      it: 'reports success for its own update when the repeat meets the version it has written itself',
      ...sent,
      backend: forPump(
        stored(),
        { ...updates(1), reply: 'lost' },
        { ...updates(1), reply: problem(409, 'Version mismatch', { version: 2 }) },
        stored(own),
      ),
      ...updated(pump(own)),
    },
  ];
}
