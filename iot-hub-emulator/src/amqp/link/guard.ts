import type { Connection, Delivery, Receiver } from 'rhea';
import { isFrameDecodable } from '../../events/decodable.ts';
import { Refusal } from '../../values/refusal.ts';
import { decodeMessage } from './decode.ts';
import type { Incoming } from './peer.ts';

// rhea has no bounds of its own, and decodes frames before any login

// of no message that rhea decodes
const undecoded = 0xffff_fffe;
const protocolHeader = 0x414d_5150; // the letters AMQP

/** Keep frames from rhea that it cannot decode at a bounded cost: `end` is called, and the connection is over. Messages stay bytes. */
export function guardFrames(connection: Connection, end: () => void): void {
  const state = connection as unknown as ConnectionState;
  const { transport, on_transfer: transfer } = state;
  const { read } = transport;
  transport.read = (bytes, reader) => {
    if (areFramesDecodable(bytes)) return read.call(transport, bytes, reader);
    end();
    throw new RangeError('A frame cannot be decoded.');
  };
  state.on_transfer = (frame) => {
    if (!frame.performative.message_format) frame.performative.message_format = undecoded;
    transfer.call(state, frame);
  };
}

/** Decode the messages of a link whose connection is guarded. `refuse` is called for one that cannot be, and it is `refused` instead of a `message`. */
export function guardMessages(receiver: Receiver, refuse: (delivery: Delivery, refusal: Refusal) => void): void {
  const state = receiver as unknown as ReceiverState;
  const { dispatch } = state;
  state.dispatch = (event, context) => {
    const { delivery, message } = context;
    if (event !== 'message' || delivery?.format !== undecoded) return dispatch.call(receiver, event, context);
    const decoded = decodedOrRefused(message as Buffer | undefined);
    if (!(decoded instanceof Refusal)) return dispatch.call(receiver, event, { ...context, message: decoded });
    refuse(delivery, decoded);
    return dispatch.call(receiver, 'refused', context);
  };
}

function decodedOrRefused(bytes: Buffer | undefined): Incoming | Refusal {
  try {
    return decodeMessage(bytes);
  } catch (error) {
    if (error instanceof Refusal) return error;
    throw error;
  }
}

/** Of all frames that are complete, behind protocol headers, too. */
function areFramesDecodable(bytes: Buffer): boolean {
  for (let at = 0; at + 8 <= bytes.length; ) {
    const start = bytes.readUInt32BE(at);
    const size = start === protocolHeader ? 8 : start;
    if (size < 8 || at + size > bytes.length) return true; // rhea ends the connection, or waits for the rest
    if (start !== protocolHeader && !isFrameDecodable(bytes.subarray(at, at + size))) return false;
    at += size;
  }
  return true;
}

/** Parts of rhea's connections that its typings leave out. */
interface ConnectionState {
  readonly transport: { read(bytes: Buffer, reader: unknown): number };
  on_transfer(frame: { readonly performative: { message_format: number | null | undefined } }): void;
}

/** Parts of rhea's receivers that its typings leave out. */
interface ReceiverState {
  dispatch(event: string, context: { readonly delivery?: Delivery; readonly message?: unknown }): boolean;
}
