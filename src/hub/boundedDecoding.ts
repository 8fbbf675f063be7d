import { undecodedProperties } from '../protocol/event.ts';
import { isFrameDecodable, sectionsOf } from './decodable.ts';
import type { ExactDecoding } from './exactDecoding.ts';

/** The decoders of an AMQP library. */
export interface Decoders {
  readonly message: { decode(bytes: Buffer | undefined): object };
  readonly frames: { read_frame(bytes: Buffer): object | null };
}

/**
 * What a device sends reaches the library's decoder as it is, and that has no bounds. So the decoder only gets what can be
 * decoded at a bounded cost. A message always comes out: in place of a body that cannot be decoded with `null`, and if its
 * properties cannot be decoded either, with `undecodedProperties` and the hub's annotations, as long as those can (D190).
 * @param exactly for the messages of devices
 */
export function boundDecoding<Message extends Decoders['message']>(
  { message, frames }: Decoders & { readonly message: Message },
  exactly?: (library: Message) => ExactDecoding,
): void {
  const { decode } = message;
  const { read_frame: read } = frames;
  if (decode.name === 'decodeBounded') return;
  const exact = exactly?.({ ...message });
  message.decode = function decodeBounded(bytes = Buffer.alloc(0)) {
    const usual = exact?.usual(bytes);
    if (usual !== undefined) return usual;
    const { areDecodable, body, annotated } = sectionsOf(bytes);
    const whole = areDecodable ? decoded(bytes, bytes.length) : undefined;
    if (whole !== undefined) return whole;
    const withoutBody = body === undefined ? undefined : decoded(bytes, body);
    if (withoutBody !== undefined) return Object.assign(withoutBody, { body: null });
    return Object.assign(decoded(bytes, annotated) ?? {}, { body: undecodedProperties });
  };
  frames.read_frame = function readBounded(bytes) {
    if (!isFrameDecodable(bytes)) throw new RangeError('AMQP frame that cannot be decoded');
    return read(bytes);
  };

  /** Undefined when the library fails. */
  function decoded(bytes: Buffer, end: number): object | undefined {
    try {
      const part = end === bytes.length ? bytes : bytes.subarray(0, end);
      const library = decode(part);
      exact?.correct(library, part);
      return library;
    } catch {
      return undefined;
    }
  }
}
