import type { Receiver, Sender } from 'rhea';
import type { HubCore } from '../../core/core.ts';
import type { DeviceLogin } from '../../identity/access.ts';
import type { Link } from '../../network/connections.ts';
import type { Outlet } from '../link/credit.ts';
import type { Peer } from '../link/peer.ts';

/** What the links of a device or module on one connection share. */
export interface DeviceSession {
  login: DeviceLogin;
  links: Set<Link>;
  /** Where answers about the twin go, and changes of it. */
  twinLink: Outlet | undefined;
  leave(): void;
}

/** A link of a logged-in device. */
export interface LinkContext {
  hub: HubCore;
  peer: Peer;
  link: Link;
  session: DeviceSession;
}

/** What is behind one address of a device; an absent direction is not found there. */
export interface Endpoint {
  serve?(sender: Sender, attached: LinkContext): void;
  accept?(receiver: Receiver, attached: LinkContext): void;
}
