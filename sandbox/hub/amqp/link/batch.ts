import rhea, { type EventContext } from 'rhea';
import type { Incoming } from './peer.ts';

const batchFormat = 0x80013700;

/** What came in one transfer: a message, or a batch of them in an envelope. */
export interface Parcel {
  /** The annotations of the envelope; those of the message when there is but one. */
  annotations: Record<string, unknown>;
  messages: Incoming[];
}

/** Take a transfer apart: a batch is one message of format 0x80013700 whose data sections are the encoded messages. */
export function unpack({ message, delivery }: EventContext): Parcel {
  if (delivery?.format !== batchFormat) {
    const single = message as Incoming;
    return { annotations: single.message_annotations ?? {}, messages: [single] };
  }
  const batch = rhea.message.decode(message as unknown as Buffer);
  const sections = [batch['body'].content].flat() as Buffer[];
  return {
    annotations: batch['message_annotations'] ?? {},
    messages: sections.map((bytes) => rhea.message.decode(bytes) as unknown as Incoming),
  };
}
