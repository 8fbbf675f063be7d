import type { Connection } from 'rhea';
import type { Reason } from '../../network/connections.ts';

// rhea expects of a session what a client does with it: it attaches the links itself, gives each a name of its own, and has
// nothing to send before. The clients of a server close a link and attach the next one in the same write, give it credit at
// once, and choose names and handles as they like.

/** The greatest handle that a client may choose, as IoT Hub announces it to devices and services. */
const handleMax = 262_143;

/** What a client may have open on one connection. */
export interface SessionLimits {
  sessions: number;
  /** Of all its sessions together. */
  links: number;
}

/** Serve the sessions that a client begins on this connection. `end` is called when it breaks a rule of AMQP, or exceeds a limit. */
export function serveSessions(connection: Connection, most: SessionLimits, end: (reason: Reason) => void): void {
  const state = connection as unknown as ConnectionState;
  const { create_session: create, remove_session: remove } = state;
  const sessions = new Set<Session>();
  let links = 0;
  let isOver = false;
  const rules: Rules = {
    opened() {
      links += 1;
      if (links > most.links) rules.broken(tooMany('links', most.links));
    },
    closed() {
      links -= 1;
    },
    broken(reason) {
      if (!isOver) end(reason);
      isOver = true;
    },
    isOver: () => isOver,
  };

  state.create_session = (size) => {
    const session = create.call(connection, size);
    sessions.add(session);
    serveSession(session, rules);
    if (sessions.size > most.sessions) rules.broken(tooMany('sessions', most.sessions));
    return session;
  };
  state.remove_session = (session) => {
    if (sessions.delete(session)) links -= Object.keys(session.links).length;
    remove.call(connection, session);
  };
}

const tooMany = (what: string, most: number): Reason => ({
  condition: 'amqp:resource-limit-exceeded',
  description: `A connection has at most ${most} ${what}.`,
});

function serveSession(session: Session, rules: Rules): void {
  const { links, local, remote, outgoing, incoming, _process: process, on_disposition: dispose } = session;
  const attached: Link[] = [];
  let lowestFree = 0;
  local.begin.handle_max = handleMax;

  // by its handle: one of the same name may be on its way out, or go the other way
  session.create_link = (name, kind, options) => {
    while (links[lowestFree]) lowestFree += 1;
    const link = new kind(session, name, lowestFree, options);
    if (link.is_sender()) link._get_drain = () => drain(link);
    links[lowestFree] = link;
    local.handles[lowestFree] = link;
    rules.opened();
    return link;
  };

  session.remove_link = (link) => {
    const { handle } = link.local;
    if (links[handle] !== link) return;
    delete links[handle];
    delete local.handles[handle];
    lowestFree = Math.min(lowestFree, handle);
    if (remote.handles[link.remote.handle] === link) delete remote.handles[link.remote.handle];
    settleAll(outgoing, link);
    settleAll(incoming, link);
    session.connection._register(); // what came after the hub's detach, and nobody settled, filled the window
    rules.closed();
  };

  session.on_attach = (frame) => {
    const { name, handle, role } = frame.performative;
    if (handle > handleMax) rules.broken(handleTooGreat);
    if (remote.handles[handle]?.is_remote_open()) rules.broken(handleInUse);
    if (rules.isOver()) return;
    const link = role ? session.create_sender(name) : session.create_receiver(name);
    link.remote.handle = handle;
    remote.handles[handle] = link;
    attached.push(link);
    link.on_attach(frame);
    link.remote.attach = frame.performative;
  };

  // rhea looks for each delivery from the first to the last, and a client may name any numbers
  session.on_disposition = (frame) => {
    const { performative } = frame;
    const { deliveries } = performative.role ? outgoing : incoming;
    const lowest = deliveries.entries[deliveries.head]?.id ?? 0;
    const first = Math.max(Number(performative.first), lowest);
    const last = Math.min(Number(performative.last ?? performative.first), lowest + deliveries.size - 1);
    if (!(first <= last)) return;
    Object.assign(performative, { first, last });
    dispose.call(session, frame);
  };

  // an attach leaves before the transfers of its link
  session._process = () => {
    if (session.state.need_open()) session.output(local.begin);
    for (const link of attached.splice(0)) if (link.state.need_open()) session.output(link.local.attach);
    process.call(session);
    if (outgoing.next_pending_delivery === outgoing.next_delivery_id || !dropUnsendable(outgoing)) return;
    // there is room again for the others
    for (const link of Object.values(links))
      if (link.is_sender() && link.is_open() && link.sendable()) link.dispatch('sendable', link._context());
  };
}

/** Count what was sent on a link that is gone as settled: neither end can say any more what became of it. */
function settleAll({ deliveries }: Pick<Outgoing, 'deliveries'>, link: Link): void {
  for (let i = 0; i < deliveries.size; i += 1) {
    const delivery = deliveries.entries[(deliveries.head + i) % deliveries.capacity];
    if (delivery?.link === link) settle(delivery);
  }
}

const settle = (delivery: Delivery): void => void Object.assign(delivery, { settled: true, remote_settled: true });

/** Give back the credit that a client drains. Whether there was any; rhea would take one at a time, however much it is. */
function drain(link: Link): boolean {
  if (!(link._draining && link._drained && link.credit)) return false;
  link.delivery_count = (link.delivery_count + Math.max(0, link.credit)) >>> 0;
  link.credit = 0;
  return true;
}

/** Drop what waits for a link that the hub has closed: its handle is another link's next. Whether there was any. */
function dropUnsendable(outgoing: Outgoing): boolean {
  const { deliveries } = outgoing;
  const waiting: Delivery[] = [];
  for (let id = outgoing.next_pending_delivery; id < outgoing.next_delivery_id; id += 1) {
    const delivery = deliveries.by_id(id);
    if (delivery) waiting.push(delivery);
  }
  const isSendable = ({ link }: Delivery): boolean => link.state.local_open;
  if (waiting.every(isSendable)) return false;
  const [first] = waiting;
  if (first && first.next_to_send > 0 && !isSendable(first)) {
    // a part of it has left, so its number is used
    settle(first);
    outgoing.next_pending_delivery += 1;
    waiting.shift();
  }
  deliveries.size -= waiting.length;
  deliveries.tail = (deliveries.tail - waiting.length + deliveries.capacity) % deliveries.capacity;
  outgoing.next_delivery_id = outgoing.next_pending_delivery;
  for (const delivery of waiting.filter(isSendable)) {
    delivery.id = outgoing.next_delivery_id;
    outgoing.next_delivery_id += 1;
    deliveries.push(delivery);
  }
  return true;
}

const handleTooGreat: Reason = {
  condition: 'amqp:connection:framing-error',
  description: `The greatest handle is ${handleMax}.`,
};
const handleInUse: Reason = {
  condition: 'amqp:session:handle-in-use',
  description: 'The session has a link of this handle.',
};

/** What the sessions of a connection have in common. */
interface Rules {
  /** A link was opened. */
  opened(): void;
  closed(): void;
  broken(reason: Reason): void;
  isOver(): boolean;
}

/** Parts of rhea's connections that its typings leave out. */
interface ConnectionState {
  create_session(size: unknown): Session;
  remove_session(session: Session): void;
}

/** The same of its sessions. `links` are by name in rhea, and by the hub's handle here. */
interface Session {
  readonly state: { need_open(): boolean };
  readonly connection: { _register(): void };
  readonly links: Record<number, Link>;
  readonly local: { readonly begin: { handle_max: number }; readonly handles: Record<number, Link> };
  readonly remote: { readonly handles: Record<number, Link> };
  readonly outgoing: Outgoing;
  readonly incoming: Pick<Outgoing, 'deliveries'>;
  create_link(name: string, kind: LinkConstructor, options: unknown): Link;
  create_sender(name: string): Link;
  create_receiver(name: string): Link;
  remove_link(link: Link): void;
  on_attach(frame: AttachFrame): void;
  on_disposition(frame: DispositionFrame): void;
  output(performative: unknown): void;
  _process(): void;
}

type LinkConstructor = new (session: Session, name: string, handle: number, options: unknown) => Link;

interface Link {
  readonly state: { readonly local_open: boolean; need_open(): boolean };
  readonly local: { readonly handle: number; readonly attach: unknown };
  readonly remote: { handle: number; attach: unknown };
  readonly _draining: boolean;
  readonly _drained: boolean;
  credit: number;
  delivery_count: number;
  _get_drain(): boolean;
  is_remote_open(): boolean;
  is_open(): boolean;
  is_sender(): boolean;
  sendable(): boolean;
  dispatch(event: string, context: unknown): void;
  _context(): unknown;
  on_attach(frame: AttachFrame): void;
}

interface AttachFrame {
  readonly performative: { readonly name: string; readonly handle: number; readonly role: boolean };
}

/** Of what the other end sends with `role`, of what it got without. */
interface DispositionFrame {
  readonly performative: { readonly role: boolean; readonly first: unknown; readonly last: unknown };
}

/** Deliveries that leave, by their number: those before `next_pending_delivery` have left, and some are not settled. */
interface Outgoing {
  readonly deliveries: {
    readonly capacity: number;
    readonly entries: readonly (Delivery | undefined)[];
    readonly head: number;
    size: number;
    tail: number;
    by_id(id: number): Delivery | undefined;
    push(delivery: Delivery): void;
  };
  next_pending_delivery: number;
  next_delivery_id: number;
}

interface Delivery {
  id: number;
  readonly link: Link;
  /** How many of its transfers have left. */
  readonly next_to_send: number;
}
