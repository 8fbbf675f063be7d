import { z } from 'zod';
import { action, done } from '../card/card.ts';
import { faultsOf, identityName, jsonObject, path } from '../protocol/fields.ts';
import { Rejection } from '../protocol/rejection.ts';

const parentPath = z.object({ parent: path });
const context = { context: z.string().optional() };

export const identityUpdate = action('identity.update', {
  purpose: 'Update an identity',
  headers: z.object({ parent: z.string().default(''), ...context }),
  body: jsonObject({ identity: identityName.optional() }),
  reads: ['identity'],
  needs: ['principalManager'],
  forwardedTo: ['principalManager', 'updateIdentity'],
  acknowledged: {
    success: { fields: { parent: z.string(), identity: z.string() }, properties: context },
    failure: { properties: context },
  },
  // spec: parent is relevant only when identity is given
  crossChecks: (headers, { identity }) =>
    identity === undefined ? [] : faultsOf(parentPath.safeParse(headers).error ?? { issues: [] }, 'property'),
  echo: ({ context }) => (context === undefined ? {} : { properties: { context } }), // P4

  async handle({ headers: { parent }, body: { identity }, json }, { principalManager }) {
    const principal = await (identity === undefined
      ? principalManager.resolve('')
      : principalManager.resolve(parent, identity));
    if (principal === undefined) throw unknownIdentity();
    await principalManager.updateIdentity(principal.id, json.text);
    return done({ parent, identity: identity ?? '' });
  },
});

/** The same text whether the identity does not exist or belongs to another device. */
export const unknownIdentity = (): Rejection =>
  new Rejection('http_response_error', 'the principal manager knows no such identity below this device');
