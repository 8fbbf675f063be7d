import type { StandingFaults } from '../faults/standing.ts';
import type { Access } from '../identity/access.ts';
import { isOfEvents, kindOfAudience } from '../network/connections.ts';
import { Refusal } from '../values/refusal.ts';
import type { Node } from './link/peer.ts';
import { requestNode } from './link/requestNode.ts';
import { tokenOf } from './link/tokenOf.ts';

// operation=put-token, name=<audience>, body = the token, as text or bytes
// type=servicebus.windows.net:sastoken or jwt; clients mix them up, and the token itself says what it is
const types: readonly unknown[] = ['servicebus.windows.net:sastoken', 'jwt'];

/** `$cbs`: a client proves with a token what it may do on this connection. */
export function cbsNode(access: Access, faults: StandingFaults, now: () => number): Node {
  return requestNode('$cbs', ({ application_properties: asked = {}, body }, { claims, connection }) => {
    const { operation, type, name } = asked;
    const token = tokenOf(body);
    if (operation !== 'put-token' || typeof name !== 'string' || token === undefined)
      return { status: 400, description: 'A put-token request has a name and a token.', condition: 'amqp:not-allowed' };
    if (!types.includes(type))
      return {
        status: 400,
        description: 'Only shared access signatures and JSON Web Tokens are known.',
        condition: 'amqp:not-implemented',
      };
    const connections = kindOfAudience(name);
    connection.kind ??= connections;
    const refused = faults.strike('refuse-token', { connections });
    if (refused?.fault.answer === 'silent') return undefined;
    if (refused)
      return { status: 401, description: 'A fault refuses this token.', condition: 'amqp:unauthorized-access' };
    try {
      const claim = access.claim(token, name);
      const short = faults.strike('token-life', { connections });
      if (short) claim.expiresAt = Math.min(claim.expiresAt, now() + short.fault.ms);
      claims.put(name, claim);
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      return { status: 401, description: error.message, condition: error.condition };
    }
    // Event Hubs answers 202; IoT Hub 200, and its client takes nothing else for success
    return isOfEvents(name) ? { status: 202, description: 'Accepted' } : { status: 200, description: 'OK' };
  });
}
