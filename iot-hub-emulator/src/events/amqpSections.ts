import { endOf } from './decodable.ts';

/**
 * The sections of an encoded AMQP message before its body, by their bytes: what a sender wrote passes through with its types.
 * Only for bytes that were found to be decodable up to there.
 */

/** The code of each section, in the order in which a message has them; `data` is the first of a body. */
export const codes = {
  header: 0x70,
  messageAnnotations: 0x72,
  properties: 0x73,
  applicationProperties: 0x74,
  data: 0x75,
  footer: 0x78,
} as const;

/** The sections before the body, by their code, each with its descriptor: with `rhea` as client, also a footer. Undefined when they do not come in their order. */
export type Head = ReadonlyMap<number, Buffer>;

// a section: 0x00, descriptor (0x53 and the code, or 0x80 and eight bytes), value
const valueIn = (section: Buffer, at = 0): number => at + (section[at + 1] === 0x53 ? 3 : 10);

export function headOf(bytes: Buffer): Head | undefined {
  const head = new Map<number, Buffer>();
  let last = 0;
  for (let at = 0; at < bytes.length; ) {
    const value = valueIn(bytes, at);
    const code = bytes[value - 1] ?? 0;
    if (code >= codes.data && code !== codes.footer) return head;
    if (code <= last) return undefined;
    const end = endOf(bytes, value);
    head.set(code, bytes.subarray(at, end));
    last = code;
    at = end;
  }
  return head;
}

/** An entry of a map. */
export interface Entry {
  /** Undefined when it is neither a string nor a symbol. */
  readonly key: string | undefined;
  /** Key and value, one after the other. */
  readonly bytes: Buffer;
}

/** The entries of a section that is a map. */
export function entriesOf(section: Buffer): Entry[] {
  const entries: Entry[] = [];
  const map = valueIn(section);
  for (let at = map + (section[map] === 0xc1 ? 3 : 9); at < section.length; ) {
    const value = endOf(section, at);
    const end = endOf(section, value);
    entries.push({ key: textAt(section, at, value), bytes: section.subarray(at, end) });
    at = end;
  }
  return entries;
}

function textAt(bytes: Buffer, at: number, end: number): string | undefined {
  const code = bytes[at];
  if (code === 0xa1 || code === 0xa3) return bytes.toString('utf8', at + 2, end);
  return code === 0xb1 || code === 0xb3 ? bytes.toString('utf8', at + 5, end) : undefined;
}
