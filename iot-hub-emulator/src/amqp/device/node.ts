import type { Receiver, Sender } from 'rhea';
import type { HubCore } from '../../core/core.ts';
import type { DeviceLogin } from '../../identity/access.ts';
import { clientIdOf, nameOf } from '../../identity/registry.ts';
import { certificatesOf } from '../../network/clientCertificates.ts';
import type { Link } from '../../network/connections.ts';
import { Refusal } from '../../values/refusal.ts';
import { type Node, notFound, type Peer } from '../link/peer.ts';
import type { DeviceSession, Endpoint } from './endpoint.ts';
import { methodsEndpoint } from './methodsEndpoint.ts';
import { deviceboundEndpoint } from './queueReader.ts';
import { telemetryEndpoint } from './telemetryEndpoint.ts';
import { twinEndpoint } from './twinEndpoint.ts';

// devices/{device}[/modules/{module}]/{endpoint}
const form = /^devices\/(?<device>[^/]+)(\/modules\/(?<module>[^/]+))?\/(?<endpoint>.+)$/i;

/** Everything that a device can do over AMQP. */
const endpoints: Readonly<Record<string, Endpoint>> = {
  'messages/events': telemetryEndpoint,
  'messages/devicebound': deviceboundEndpoint,
  'methods/devicebound': methodsEndpoint,
  twin: twinEndpoint,
};

/** Whether a path is one of a device. */
export const isDevicePath = (path: string): boolean => form.test(path);

/** Where devices and modules attach. The links of each on one connection are its session; a session on another one ends. */
export function deviceNode(hub: HubCore): Node {
  const sessions = new WeakMap<Peer, Map<string, DeviceSession>>();

  const enter = (peer: Peer, login: DeviceLogin): DeviceSession => {
    const present = sessions.get(peer) ?? new Map<string, DeviceSession>();
    sessions.set(peer, present);
    const { clientId, deviceId } = login.identity;
    const known = present.get(clientId);
    const modelId = login.modelId ?? known?.login.modelId;
    hub.models.named(clientId, modelId);
    if (known) return Object.assign(known, { login: { ...login, modelId } });
    const links = new Set<Link>();
    const leave = hub.presence.enter(clientId, (reason) => {
      for (const link of [...links]) link.detach(reason, true);
    });
    const session: DeviceSession = { login, links, twinLink: undefined, leave };
    present.set(clientId, session);
    peer.connection.deviceId ??= deviceId;
    hub.journal.add({ kind: 'connected', ...nameOf(login.identity), protocol: 'amqp' });
    return session;
  };

  const leave = (peer: Peer, session: DeviceSession, link: Link, reason: string): void => {
    session.links.delete(link);
    if (session.links.size > 0) return;
    sessions.get(peer)?.delete(session.login.identity.clientId);
    session.leave();
    hub.journal.add({ kind: 'disconnected', ...nameOf(session.login.identity), protocol: 'amqp', reason });
  };

  const attach = (terminus: Sender | Receiver, peer: Peer, link: Link): void => {
    const { device = '', module, endpoint: name = '' } = form.exec(link.path)?.groups ?? {};
    const endpoint = endpoints[name.toLowerCase()];
    const [deviceId, moduleId] = idsOf(hub, device, module);
    const byToken = () => peer.claims.first((claim) => hub.access.loginBy(claim, deviceId, moduleId));
    const claimed = byToken();
    const login = claimed ?? loginByCertificate(hub, peer, deviceId, moduleId);
    if (!login) throw new Refusal('amqp:unauthorized-access', 'No token here lets this device connect.');
    const handler = terminus.is_receiver() ? endpoint?.accept : endpoint?.serve;
    if (!handler) throw notFound(link.address);
    if (claimed) link.allowed = () => byToken() !== undefined;
    const session = enter(peer, { ...login, modelId: modelOf(terminus) });
    session.links.add(link);
    link.onEnd((reason) => leave(peer, session, link, reason));
    const attached = { hub, peer, link, session };
    if (terminus.is_receiver()) endpoint?.accept?.(terminus as Receiver, attached);
    else endpoint?.serve?.(terminus as Sender, attached);
  };

  return { serve: attach, accept: attach };
}

/** The login by what the client presented for TLS; undefined when that was nothing. Refuses a certificate of another. */
function loginByCertificate({ access }: HubCore, { socket }: Peer, deviceId: string, moduleId: string | undefined) {
  const certificates = certificatesOf(socket);
  return certificates.length === 0 ? undefined : access.login(deviceId, moduleId, { certificates });
}

/** The model that a device names when it attaches a link. */
function modelOf({ properties }: Sender | Receiver): string | undefined {
  const name: unknown = properties?.['com.microsoft:model-id'];
  return name === undefined || name === null ? undefined : String(name);
}

// ids stand in the address as they are or, from other clients, percent-encoded
function idsOf(hub: HubCore, device: string, module: string | undefined): [string, string | undefined] {
  if (hub.registry.get(clientIdOf(device, module))) return [device, module];
  try {
    return [decodeURIComponent(device), module === undefined ? undefined : decodeURIComponent(module)];
  } catch {
    return [device, module];
  }
}
