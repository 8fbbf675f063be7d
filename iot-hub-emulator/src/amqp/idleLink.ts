import type { Receiver } from 'rhea';
import type { Link } from '../network/connections.ts';
import { publisherIdle } from './conditions.ts';

/** Detaches a link on which a client has sent nothing for so many milliseconds. */
export function detachWhenSilent(receiver: Receiver, link: Link, ms: number): void {
  const silence = setTimeout(() => link.detach(publisherIdle(link.name, ms), true), ms).unref();
  receiver.on('message', () => silence.refresh());
  link.onEnd(() => clearTimeout(silence));
}
