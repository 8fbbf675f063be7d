import type { Receiver, Sender } from 'rhea';
import type { Link } from '../../network/connections.ts';
import type { Peer } from './peer.ts';

/** Call `finish` once, when the link is over: closed by either end, or gone with its session or connection. */
export function whenOver(
  link: Sender | Receiver,
  { socket }: Peer,
  entry: Link,
  finish: (reason: string) => void,
): void {
  const closing = link.is_receiver() ? 'receiver_close' : 'sender_close';
  let over = false;
  const end = (reason: string): void => {
    if (over) return;
    over = true;
    link.off(closing, gone);
    link.session.off('session_close', gone);
    socket.off('close', gone);
    finish(reason);
  };
  const gone = () => end('the client left');
  link.on(closing, gone);
  link.session.setMaxListeners(0).on('session_close', gone);
  socket.on('close', gone);
  const { detach } = entry;
  entry.detach = (reason, closed) => {
    end(reason?.description ?? 'the hub detached it');
    detach(reason, closed);
  };
}
