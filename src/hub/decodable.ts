/** Whether an AMQP library can decode bytes at a bounded cost: libraries have no bounds. This reads as they do, each byte at most once. */

/** Of lists, maps, arrays and descriptors. */
const mostLevels = 32;
/** Values of a message: more than its properties have while their size is allowed (R7). */
const mostInMessage = 65_536;
/** Values from the body of a message on, or of a frame. */
const mostInBody = 4_096;
/** Elements that take no bytes, such as the nulls of an array. */
const mostEmpty = 256;

// A message is a row of sections: 0x00, descriptor (0x53 and the code of the section, or the long form), value.
const messageAnnotations = 0x72;
const applicationProperties = 0x74;
const data = 0x75;
const sequence = 0x76;
const anyValue = 0x77;

/**
 * @param most values from the body on; a batch of messages may have more
 * @returns whether all sections can be decoded; where the body and the application properties begin, when what is before can be decoded;
 * where the message annotations end, 0 when not even they can be decoded
 */
export function sectionsOf(bytes: Uint8Array, most = mostInBody) {
  const walk: Walk = { bytes, values: mostInMessage, empty: mostEmpty };
  let body: number | undefined;
  let properties: number | undefined;
  let kindOfBody: number | undefined;
  let annotated = 0;
  for (let at = 0; at < bytes.length; ) {
    const value = endOfDescriptor(bytes, at);
    const kind = value === refused ? refused : (bytes[value - 1] ?? refused);
    const isBody = kind === data || kind === sequence || kind === anyValue;
    if (isBody && body === undefined) {
      body = at;
      walk.values = Math.min(walk.values, most);
    }
    const canFollow = !isBody || kindOfBody === undefined || (kind === kindOfBody && kind !== anyValue);
    const end = canFollow && canBeginWith(kind, bytes[value]) ? endOfValue(walk, value, mostLevels) : refused;
    if (end === refused) return { areDecodable: false, body, properties, annotated };
    if (isBody) kindOfBody = kind;
    if (kind === messageAnnotations) annotated = end;
    if (kind === applicationProperties) properties = value;
    at = end;
  }
  return { areDecodable: true, body, properties, annotated };
}

/** @param frame with its header */
export function isFrameDecodable(frame: Uint8Array): boolean {
  const performative = 4 * (frame[4] ?? 0);
  if (performative >= frame.length) return true; // an empty frame; the library judges the header
  return endOfValue({ bytes: frame, values: mostInBody, empty: mostEmpty }, performative, mostLevels) !== refused;
}

/** `values`, and elements without bytes, that may still come. */
type Walk = { readonly bytes: Uint8Array; values: number; empty: number };

const refused = -1;

function endOfDescriptor(bytes: Uint8Array, at: number): number {
  if (bytes[at] !== 0) return refused;
  if (bytes[at + 1] === 0x53) return at + 3;
  const isLong = bytes[at + 1] === 0x80 && bytes.subarray(at + 2, at + 9).every((byte) => byte === 0);
  return isLong ? at + 10 : refused;
}

/** Whether the value of a section can begin with this code. */
function canBeginWith(kind: number, code: number | undefined): boolean {
  if (kind === anyValue) return true;
  if (kind === data) return code === 0xa0 || code === 0xb0;
  const isList = kind === 0x70 || kind === 0x73 || kind === sequence; // header, properties
  if (isList) return code === 0x45 || code === 0xc0 || code === 0xd0;
  return kind >= 0x71 && kind <= 0x78 && (code === 0xc1 || code === 0xd1);
}

/** The codes that the libraries know: by the first digit, which says how many bytes follow, or how many the size has, the second ones. */
const known = ['', '', '', '', '012345', '0123456', '01', '01234', '01234', '48', '013', '013', '01', '01', '0', '0'];
const isKnown = Uint8Array.from({ length: 256 }, (_, code) =>
  Number(known[code >>> 4]?.includes((code & 15).toString(16))),
);
const widths = [0, 0, 0, 0, 0, 1, 2, 4, 8, 16, 1, 4, 1, 4, 1, 4] as const;

/** Of a message that can be decoded, where the value ends that begins at `at`. */
export const endOf = (bytes: Uint8Array, at: number): number =>
  endOfValue({ bytes, values: mostInMessage, empty: mostEmpty }, at, mostLevels);

function endOfValue(walk: Walk, at: number, levels: number): number {
  const place = codeOf(walk, at, levels);
  return place === refused ? refused : endOfContent(walk, walk.bytes[place] ?? 0, place + 1, levels);
}

/** The place of a value's code, behind its descriptors, which may have descriptors themselves. */
function codeOf(walk: Walk, at: number, levels: number): number {
  let place = at;
  for (let left = levels; walk.bytes[place] === 0; left -= 1) {
    place = left === 0 ? refused : endOfValue(walk, place + 1, left - 1);
    if (place === refused) return refused;
  }
  return place;
}

function endOfContent(walk: Walk, code: number, at: number, levels: number): number {
  const { bytes } = walk;
  walk.values -= 1;
  if (isKnown[code] === 0 || walk.values < 0) return refused;
  const width = widths[code >>> 4] ?? 0;
  if (code < 0xa0) return at + width <= bytes.length ? at + width : refused;
  const content = at + width;
  if (content > bytes.length) return refused;
  const end = content + numberAt(bytes, at, width);
  if (end > bytes.length) return refused;
  if (code < 0xc0) return end;
  const items = content + width;
  if (levels === 0 || items > end) return refused;
  const count = numberAt(bytes, content, width);
  return code < 0xe0
    ? endOfItems(walk, count, items, end, levels - 1)
    : endOfArray(walk, count, items, end, levels - 1);
}

function endOfItems(walk: Walk, count: number, from: number, end: number, levels: number): number {
  if (count > end - from) return refused;
  let at = from;
  for (let left = count; left > 0; left -= 1) {
    at = endOfValue(walk, at, levels);
    if (at === refused || at > end) return refused;
  }
  return at === end ? end : refused;
}

/** The elements of an array share one code. */
function endOfArray(walk: Walk, count: number, from: number, end: number, levels: number): number {
  const place = codeOf(walk, from, levels);
  if (place === refused || place >= end) return refused;
  const code = walk.bytes[place] ?? 0;
  if (code >>> 4 === 4) {
    walk.empty -= count;
    if (walk.empty < 0) return refused;
  } else if (count > end - place) return refused;
  let at = place + 1;
  for (let left = count; left > 0; left -= 1) {
    at = endOfContent(walk, code, at, levels);
    if (at === refused || at > end) return refused;
  }
  return at === end && isKnown[code] === 1 ? end : refused;
}

/** Of one byte or four. */
function numberAt(bytes: Uint8Array, at: number, width: number): number {
  if (width === 1) return bytes[at] ?? 0;
  return (
    (bytes[at] ?? 0) * 0x1000000 + (((bytes[at + 1] ?? 0) << 16) | ((bytes[at + 2] ?? 0) << 8) | (bytes[at + 3] ?? 0))
  );
}
