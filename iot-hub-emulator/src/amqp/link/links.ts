import type { Receiver, Sender, Session } from 'rhea';
import type { StandingFaults } from '../../faults/standing.ts';
import type { Connection, Link } from '../../network/connections.ts';
import { Refusal } from '../../values/refusal.ts';
import { pathOf } from './address.ts';

/** What faults call a link on which a client sends. */
type InboundLink = 'c2d' | 'd2c' | 'events';

const window = 1000;

/**
 * The entry of a link among those of its connection, until it is over: closed by either end, or gone with its session or
 * connection.
 */
export function trackLink(link: Sender | Receiver, address: string, connection: Connection): Link {
  const state = link as unknown as LinkState;
  const { session } = link;
  const closing = link.is_receiver() ? 'receiver_close' : 'sender_close';
  const steps: ((reason: string) => void)[] = [];
  const end = (reason: string): boolean => {
    if (!connection.links.delete(tracked)) return false;
    link.off(closing, left);
    session.off('session_close', left);
    connection.socket.off('close', left);
    for (const step of steps.reverse()) step(reason);
    return true;
  };
  const left = () => end('the client left');
  const tracked: Link = {
    name: link.name,
    address,
    path: pathOf(address),
    direction: link.is_receiver() ? 'in' : 'out',
    credit: () => state.credit,
    transfers: () => state.delivery_count,
    onEnd: (step) => void steps.push(step),
    detach(reason, closed) {
      if (!end(reason?.description ?? 'the hub detached it')) return;
      link.removeAllListeners('message'); // what still comes cannot be answered, and is not taken in
      if (closed) link.close(reason);
      else {
        state.local.detach.error = reason;
        link.detach();
      }
    },
  };
  connection.links.add(tracked);
  link.on(closing, left);
  session.setMaxListeners(0).on('session_close', left);
  connection.socket.on('close', left);
  return tracked;
}

const names = new WeakMap<Session, Set<string>>();

/** Refuse a link of a name that another one of its session has which goes the same way (H10). */
export function takeName({ session }: Sender | Receiver, { name, direction, onEnd }: Link): void {
  const taken = names.get(session) ?? new Set();
  names.set(session, taken);
  const own = `${direction} ${name}`;
  if (taken.has(own)) throw new Refusal('amqp:resource-locked', `The session has a link of the name '${name}'.`);
  taken.add(own);
  onEnd(() => taken.delete(own));
}

/** Keep a link on which a client sends in credit, as far as no fault denies it. */
export function grantCredit(receiver: Receiver, { path, onEnd: whenOver }: Link, faults: StandingFaults): void {
  const state = receiver as unknown as LinkState;
  const kind = inboundLink(path);
  let denied = false;

  const topUp = (): void => {
    const missing = window - state.credit;
    if (!denied && missing >= window / 4) receiver.add_credit(missing);
  };
  const applyFault = (): void => {
    denied = kind !== undefined && faults.strike('no-credit', { link: kind }) !== undefined;
    if (denied && state.credit > 0) {
      state.credit = 0;
      state.issue_flow = true;
      state.connection._register();
    }
    topUp();
  };

  receiver.on('message', topUp);
  receiver.on('refused' as 'message', topUp);
  applyFault();
  if (kind !== undefined) whenOver(faults.watch('no-credit', applyFault));
}

/** Which of the links that faults know a client sends on; undefined for those of requests, such as `$cbs`. */
function inboundLink(path: string): InboundLink | undefined {
  if (/^messages\/devicebound$/i.test(path)) return 'c2d';
  if (/^devices\/[^/]+(\/modules\/[^/]+)?\/messages\/events/i.test(path)) return 'd2c';
  return /[$]|twin|methods|messages\//i.test(path) ? undefined : 'events';
}

/** Parts of rhea's links that its typings leave out. */
interface LinkState {
  credit: number;
  delivery_count: number;
  issue_flow: boolean;
  connection: { _register(): void };
  local: { attach: { snd_settle_mode: number }; detach: { error: unknown } };
}

/** Send unsettled on this link: the client must say of each message what became of it. Only while it attaches. */
export function sendUnsettled(sender: Sender): void {
  (sender as unknown as LinkState).local.attach.snd_settle_mode = 0;
}
