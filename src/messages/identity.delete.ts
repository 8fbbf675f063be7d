import { z } from 'zod';
import { identityName, jsonObject, path } from '../protocol/fields.ts';
import { action, done } from './card.ts';
import { unknownIdentity } from './identity.update.ts';

export const identityDelete = action('identity.delete', {
  purpose: 'Delete an identity that is connected through the device',
  headers: z.object({ parent: path.default('') }),
  body: jsonObject({ identity: identityName }), // A8
  reads: ['identity'],
  needs: ['principalManager'],
  detailsKey: 'detail',
  acknowledged: { success: { fields: { parent: path, identity: identityName } } },

  async handle({ headers: { parent }, body: { identity }, mayBeRepeat }, { principalManager }) {
    const principal = await principalManager.resolve(parent, identity);
    if (principal === undefined && !mayBeRepeat) throw unknownIdentity(); // D10
    if (principal !== undefined) await principalManager.deleteIdentity(principal.id, mayBeRepeat);
    return done({ parent, identity });
  },
});
