import { z } from 'zod';
import { action, done } from '../card/card.ts';
import { identityName, jsonObject, path } from '../protocol/fields.ts';
import { unknownIdentity } from './identity.update.ts';

export const identityDelete = action('identity.delete', {
  purpose: 'Delete an identity that is connected through the device',
  headers: z.object({ parent: path.default('') }),
  body: jsonObject({ identity: identityName }), // A8
  reads: ['identity'],
  needs: ['principalManager'],
  detailsKey: 'detail',
  acknowledged: { success: { fields: { parent: path, identity: identityName } } },

  async handle({ envelope, headers: { parent }, body: { identity }, redelivered }, { principalManager }) {
    const principal = await principalManager.resolve(parent, identity);
    if (principal === undefined && !redelivered) throw unknownIdentity(); // D10
    if (principal?.path === envelope.deviceId) throw unknownIdentity(); // A8: the device itself, whatever else is said of it
    if (principal !== undefined) await principalManager.deleteIdentity(principal.id, redelivered);
    return done({ parent, identity });
  },
});
