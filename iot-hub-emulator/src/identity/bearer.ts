import { Refusal } from '../values/refusal.ts';
import type { Claim } from './claim.ts';
import type { Right } from './policies.ts';
import { claimsIn } from './tokens.ts';

/** Whose tokens a hub believes, and what their principals (object ids) may do, as role assignments say on a real one. */
export interface TrustedAuthority {
  readonly issuer: string;
  /** PEM. */
  readonly publicKey: string;
  readonly rights: Readonly<Record<string, readonly Right[]>>;
}

/** What the tokens of an identity are for: the service APIs of an IoT hub, or event hubs. */
const resources = { hub: 'https://iothubs.azure.net', events: 'https://eventhubs.azure.net' };

/**
 * What a token of the authority allows. Refuses with `amqp:unauthorized-access` a token with a wrong signature, issuer or
 * resource, one outside its time, and one of a principal without a role. The built-in event endpoint takes no such tokens (H4).
 */
export function claimByToken(
  token: string,
  audience: string,
  {
    authority,
    routedHub,
    now,
  }: { authority: TrustedAuthority | undefined; routedHub: string | undefined; now: number },
): Claim {
  const claims = authority && claimsIn(token, authority.publicKey);
  if (authority === undefined || claims?.iss !== authority.issuer)
    throw unauthorized('InvalidSignature: The token has an invalid signature.');
  const place = /^sb:\/\/[^/]+\/(?<hub>[^/]+)/i.exec(audience)?.groups?.['hub'];
  const isForEvents = /^sb:/i.test(audience);
  const expected = isForEvents ? resources.events : resources.hub;
  if (claims.aud.replace(/\/+$/, '') !== expected)
    throw unauthorized(`InvalidAudience: The token is not for ${expected}.`);
  if (claims.nbf * 1000 > now || claims.exp * 1000 <= now) throw unauthorized('ExpiredToken: The token is expired.');
  if (isForEvents && (routedHub === undefined || place?.toLowerCase() !== routedHub.toLowerCase()))
    throw unauthorized('The built-in event endpoint takes shared access signatures only.');
  const ofEvents: readonly Right[] = ['routedListen', 'routedSend'];
  const rights = (authority.rights[claims.oid] ?? []).filter((right) => ofEvents.includes(right) === isForEvents);
  if (rights.length === 0) throw unauthorized('The principal of the token has no role here.');
  const path = isForEvents && place !== undefined ? [place] : [];
  return { policy: claims.oid, rights: new Set(rights), clientId: undefined, path, expiresAt: claims.exp * 1000 };
}

const unauthorized = (description: string) => new Refusal('amqp:unauthorized-access', description);
