import { readFileSync } from 'node:fs';
import { gunzipSync, inflateSync } from 'node:zlib';
import { Ajv, type ValidateFunction } from 'ajv';
import { parse } from 'yaml';
import { asyncApiFile } from '../../scripts/asyncapi.ts';
import { type Properties, textProperties } from '../../src/protocol/event.ts';

export interface Message {
  readonly direction: 'deviceToCloud' | 'cloudToDevice';
  readonly properties: Readonly<Record<string, unknown>>;
  readonly body: Uint8Array | string;
}

interface Contract {
  readonly channels: Readonly<Record<Message['direction'], { readonly messages: Readonly<Record<string, unknown>> }>>;
}

interface Entry {
  readonly name: string;
  readonly headers: ValidateFunction;
  readonly payload: ValidateFunction;
}

/** Compiled when the first message comes. */
let known: Record<Message['direction'], readonly Entry[]> | undefined;

function entries(): Record<Message['direction'], readonly Entry[]> {
  const document: Contract = parse(readFileSync(asyncApiFile, 'utf8'));
  const ajv = new Ajv({ strict: false, validateFormats: false, validateSchema: false });
  ajv.addSchema(document, 'asyncapi');
  const of = (direction: Message['direction']) =>
    Object.keys(document.channels[direction].messages).map((name): Entry => {
      const schemaAt = (place: string) => ajv.compile({ $ref: `asyncapi#/components/messages/${name}/${place}` });
      return { name, headers: schemaAt('headers'), payload: schemaAt('payload') };
    });
  return { deviceToCloud: of('deviceToCloud'), cloudToDevice: of('cloudToDevice') };
}

const compressed = 'V2.compressed';

/**
 * The entries of docs/contracts/asyncapi.yaml that a message complies with, by name. There should be one; of a compressed
 * acknowledgement, that of its compression and that of what it says.
 */
export function entriesFor({ direction, properties, body }: Message): string[] {
  known ??= entries();
  const bytes = Buffer.from(body);
  const headers = textProperties(properties);
  return known[direction].flatMap(({ name, headers: hasHeaders, payload }) => {
    if (!hasHeaders(headers)) return [];
    if (name !== compressed) {
      const content = payloadOf(direction, headers, bytes);
      return content !== undefined && payload(content) ? [name] : [];
    }
    const { 'content-encoding': _, ...others } = properties;
    const unpacked = unpackedText(bytes.toString('utf8'));
    const said = unpacked === undefined ? [] : entriesFor({ direction, properties: others, body: unpacked });
    return said.map((one) => `${one}, compressed`);
  });
}

function unpackedText(base64: string): string | undefined {
  try {
    return gunzipSync(Buffer.from(base64, 'base64')).toString('utf8');
  } catch {
    return undefined;
  }
}

/** In words, unless the message complies with exactly one entry; the text holds nothing of its body. */
export function breachOfContract(message: Message): string[] {
  const found = entriesFor(message);
  if (found.length === 1) return [];
  const { action, eventType, msgType = message.properties['svc-messagetype'] } = message.properties;
  const what = `${message.direction} ${msgType} ${action ?? eventType}`;
  return [`${what} complies with ${found.length === 0 ? 'no entry' : found.join(' and ')}`];
}

/** What the payload of an entry describes: of a compressed request, the body after decompression. */
function payloadOf(direction: Message['direction'], headers: Properties, bytes: Buffer): unknown {
  const inflate = { gzip: gunzipSync, deflate: inflateSync }[headers['content-encoding']?.toLowerCase() ?? ''];
  if (direction === 'cloudToDevice' || headers['msgType'] === undefined || inflate === undefined)
    return parsed(() => bytes);
  const text = bytes.toString('latin1').trim().replace(/^"|"$/g, '');
  return parsed(() => inflate(/^[A-Za-z0-9+/]+={0,2}$/.test(text) ? Buffer.from(text, 'base64') : bytes));
}

/** Undefined when the bytes are damaged or no JSON: that complies with nothing. */
function parsed(read: () => Buffer): unknown {
  try {
    return JSON.parse(read().toString('utf8'));
  } catch {
    return undefined;
  }
}
