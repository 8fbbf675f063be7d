import { loopbackNames } from '../network/reach.ts';
import { Refusal } from '../values/refusal.ts';
import { claimByToken, type TrustedAuthority } from './bearer.ts';
import type { CaCertificates } from './caCertificates.ts';
import { checkCertificates } from './certificateProof.ts';
import type { Claim } from './claim.ts';
import type { Credentials } from './credential.ts';
import type { Policy } from './policies.ts';
import { clientIdOf, type Identity, type Registry } from './registry.ts';
import { isSignedWith, type KeyEncoding, parseSas, type SasToken } from './sas.ts';

/** A device, or a module of one, that proved who it is. */
export interface DeviceLogin {
  identity: Identity;
  /** Text of the stamp `iothub-connection-auth-method`. */
  authMethod: string;
  /** The model that it named for this connection. */
  modelId?: string | undefined;
  expiresAt: number;
}

/** Verifies all tokens and credentials of the hub. */
export interface Access {
  /** Verify a token that a client puts for `audience`. Refuses with `amqp:unauthorized-access`. */
  claim(token: string, audience: string): Claim;
  /**
   * Verify by what a device or module connects: its certificate, a token of a key of its own, or one of a policy that lets
   * devices connect. Refuses with `amqp:unauthorized-access`, a disabled one as well.
   */
  login(deviceId: string, moduleId: string | undefined, credentials: Credentials): DeviceLogin;
  /** The login of a device as if it had proved who it is. Refuses an unknown or disabled one. */
  presume(deviceId: string): DeviceLogin;
  /** The login of a device or module by a claim; undefined when the claim is not for it, or it is gone or disabled. */
  loginBy(claim: Claim, deviceId: string, moduleId: string | undefined): DeviceLogin | undefined;
}

type Proof = Pick<DeviceLogin, 'authMethod' | 'expiresAt'>;

interface Resource {
  host: string;
  path: readonly string[];
  encoding: KeyEncoding;
}

/**
 * Token checks of the hub `hubName`: signature, expiry, host, and that the token's resource covers what it is used for. Tokens
 * of `authority` are checked by `claimByToken`.
 */
export function createAccess(options: {
  hubName: string;
  /** By which clients call the hub; default those of the machine itself. */
  hostNames?: readonly string[];
  policies: ReadonlyMap<string, Policy>;
  registry: Registry;
  /** By which devices get in that a certificate authority signs for. */
  certificates: Pick<CaCertificates, 'verified'>;
  authority?: TrustedAuthority | undefined;
  /** Name of the event hub that a route leads to. */
  routedHub?: string | undefined;
  now: () => number;
}): Access {
  const { hubName, hostNames = loopbackNames, policies, registry, certificates, authority, routedHub, now } = options;
  const hosts = new Set([
    ...hostNames,
    `${hubName}.azure-devices.net`.toLowerCase(),
    `${hubName}.servicebus.windows.net`.toLowerCase(),
  ]);

  const open = (text: string): { token: SasToken; resource: Resource; expiresAt: number } => {
    const token = parseSas(text);
    if (!token) throw unauthorized('The token is not a shared access signature.');
    const resource = parseResource(token.resource);
    if (!hosts.has(resource.host)) throw unauthorized('The token is for another host.');
    const expiresAt = Number(token.expiry) * 1000;
    if (expiresAt <= now()) throw unauthorized('The token has expired.');
    return { token, resource, expiresAt };
  };

  const policyOf = (token: SasToken, encoding: KeyEncoding): Policy => {
    const policy = policies.get(token.keyName ?? '');
    const isKnown = (key: string) => isSignedWith(token, key, encoding);
    if (!policy || ![policy.primaryKey, policy.secondaryKey].some(isKnown))
      throw unauthorized('The signature of the token is wrong, or its policy is unknown.');
    return policy;
  };

  const isEnabled = (identity: Identity): boolean =>
    identity.status === 'enabled' && registry.get(identity.deviceId)?.status === 'enabled';

  const claimOfDevice = (path: readonly string[], text: string): Claim => {
    const [devices, deviceId = '', modules, moduleId] = path;
    if (devices !== 'devices' || (modules !== undefined && modules !== 'modules'))
      throw unauthorized('The token names no policy, and no device.');
    const { identity, expiresAt } = access.login(deviceId, moduleId, { token: text });
    return { policy: '', rights: new Set(), clientId: identity.clientId, path, expiresAt };
  };

  const proveByKey = (text: string, { deviceId, moduleId, primaryKey, secondaryKey }: Identity): Proof => {
    const { token, resource, expiresAt } = open(text);
    const path = pathOf(deviceId, moduleId);
    if (!resource.path.every((part, i) => part === path[i])) throw unauthorized('The token is for another device.');
    if (token.keyName === undefined) {
      if (path.length !== resource.path.length) throw unauthorized('The token is for another device.');
      if (![primaryKey, secondaryKey].some((key) => isSignedWith(token, key, 'base64')))
        throw unauthorized('The signature of the token is wrong.');
      return { authMethod: authMethod(scopeOf(moduleId)), expiresAt };
    }
    if (!policyOf(token, 'base64').rights.has('deviceConnect'))
      throw unauthorized('The policy of the token lets no device connect.');
    return { authMethod: authMethod('hub'), expiresAt };
  };

  /** A connection outlives its certificate, as connections to IoT Hub do. */
  const prove = ({ token, certificates: presented = [] }: Credentials, identity: Identity): Proof => {
    const { authentication, moduleId } = identity;
    if (authentication.type === 'sas' && token === undefined)
      throw unauthorized('The device proves who it is by a token, and sent none.');
    if (authentication.type === 'sas') return proveByKey(token ?? '', identity);
    checkCertificates(presented, identity, certificates.verified(), now());
    return { authMethod: authMethod(scopeOf(moduleId), 'x509'), expiresAt: Number.POSITIVE_INFINITY };
  };

  const find = (deviceId: string, moduleId: string | undefined): Identity => {
    const identity = registry.get(clientIdOf(deviceId, moduleId));
    if (!identity) throw unauthorized('There is no device of this id.');
    if (!isEnabled(identity)) throw unauthorized('The device is disabled.');
    return identity;
  };

  const access: Access = {
    claim(text, audience) {
      const bearer = bearerToken.exec(text)?.groups?.['token'];
      if (bearer !== undefined) return claimByToken(bearer, audience, { authority, routedHub, now: now() });
      const { token, resource, expiresAt } = open(text);
      const wanted = parseResource(/%2f/i.test(audience) ? decode(audience) : audience);
      if (!hosts.has(wanted.host) || !covers(resource.path, wanted.path))
        throw unauthorized('The token does not cover the audience it is put for.');
      if (token.keyName === undefined) return claimOfDevice(resource.path, text);
      const { name, rights } = policyOf(token, resource.encoding);
      return { policy: name, rights, clientId: undefined, path: resource.path, expiresAt };
    },

    login(deviceId, moduleId, credentials) {
      const identity = find(deviceId, moduleId);
      return { identity, ...prove(credentials, identity) };
    },

    presume(deviceId) {
      const identity = find(deviceId, undefined);
      const type = identity.authentication.type === 'sas' ? 'sas' : 'x509';
      return { identity, authMethod: authMethod('device', type), expiresAt: Number.POSITIVE_INFINITY };
    },

    loginBy({ clientId, rights, path, expiresAt }, deviceId, moduleId) {
      const own = clientId === clientIdOf(deviceId, moduleId);
      if (!own && !(rights.has('deviceConnect') && covers(path, pathOf(deviceId, moduleId)))) return undefined;
      const identity = registry.get(clientIdOf(deviceId, moduleId));
      if (!identity || !isEnabled(identity) || (own && identity.authentication.type !== 'sas')) return undefined;
      return { identity, authMethod: authMethod(own ? scopeOf(moduleId) : 'hub'), expiresAt };
    },
  };
  return access;
}

/** As services write it, with the scheme before it, and as event clients do, without. */
const bearerToken = /^(Bearer )?(?<token>[\w-]+\.[\w-]+\.[\w-]+)$/i;

function pathOf(deviceId: string, moduleId: string | undefined): string[] {
  return ['devices', deviceId, ...(moduleId === undefined ? [] : ['modules', moduleId])];
}

/** Whether a token for the resource `path` may be used for `wanted`: path prefixes, without regard to case. */
export function covers(path: readonly string[], wanted: readonly string[]): boolean {
  return path.length <= wanted.length && path.every((part, i) => part.toLowerCase() === wanted[i]?.toLowerCase());
}

// sb://host[:port]/hub/ConsumerGroups/… (Event Hubs: the key's text signs) or host[:port]/devices/… (IoT Hub: its bytes sign)
function parseResource(text: string): Resource {
  const scheme = /^[a-z]+:\/\//i.exec(text)?.[0] ?? '';
  const [authority = '', ...path] = text.slice(scheme.length).split('/');
  const host = authority.replace(/:\d+$/, '').replace(/^\[(.*)\]$/, '$1');
  return { host: host.toLowerCase(), path: path.filter(Boolean), encoding: scheme ? 'utf8' : 'base64' };
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    throw unauthorized('The audience is not percent-encoded as it should be.');
  }
}

const scopeOf = (moduleId: string | undefined) => (moduleId === undefined ? 'device' : 'module');

function authMethod(scope: 'device' | 'module' | 'hub', type: 'sas' | 'x509' = 'sas'): string {
  return JSON.stringify({ scope, type, issuer: 'iothub', acceptingIpFilterRule: null });
}

function unauthorized(description: string): Refusal {
  return new Refusal('amqp:unauthorized-access', description);
}
