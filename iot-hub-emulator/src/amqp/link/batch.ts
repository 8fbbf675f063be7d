import type { EventContext } from 'rhea';
import { Refusal } from '../../values/refusal.ts';
import { decodeMessage } from './decode.ts';
import type { Incoming } from './peer.ts';

const batchFormat = 0x80013700;
const mostInBatch = 65_536;

/** What came in one transfer: a message, or a batch of them in an envelope. */
export interface UnpackedTransfer {
  /** The annotations of the envelope; those of the message when there is but one. */
  annotations: Record<string, unknown>;
  messages: Incoming[];
}

/** Take a transfer apart: a batch is one message of format 0x80013700 whose data sections are the encoded messages. */
export function unpack({ message, delivery }: EventContext): UnpackedTransfer {
  if (delivery?.format !== batchFormat) {
    const single = message as Incoming;
    return { annotations: single.message_annotations ?? {}, messages: [single] };
  }
  const batch = decodeMessage(message as unknown as Buffer, mostInBatch);
  if (batch.sections) throw new Refusal('amqp:decode-error', 'A batch consists of data sections.');
  const sections = [batch.body?.content].flat().filter(Buffer.isBuffer);
  return {
    annotations: batch.message_annotations ?? {},
    messages: sections.map((bytes) => decodeMessage(bytes)),
  };
}
