/** A cloud-to-device message: an acknowledgement or a notification. */
export interface Reply {
  readonly kind: 'acknowledgement' | 'notification';
  /** The receiving device; it may differ from the requesting one (A11). */
  readonly deviceId: string;
  /** Derived, so that a device can recognise a repeated reply (C1). */
  readonly messageId: string;
  /** System property: the request's id if that is short printable ASCII (C1). */
  readonly correlationId: string | undefined;
  /** The hub takes any characters (C2; fact c2d.characters). */
  readonly properties: Readonly<Record<string, string>>;
  readonly body: string;
  /** Whether it reports a failure; failures are sent first (C4). */
  readonly isFailure?: boolean;
}

/** A compressed body is base64 text, which a reader that goes by this property must not take for JSON (C3). */
export const contentTypeOf = ({ properties }: Pick<Reply, 'properties'>): 'application/json' | 'text/plain' =>
  properties['content-encoding'] === undefined ? 'application/json' : 'text/plain';
export const contentEncoding = 'utf-8';

/** Without those that have no value: over MQTT, some clients cannot read a name without one (P4). */
export function withValues(properties: Readonly<Record<string, string>>): Record<string, string> {
  const present: Record<string, string> = {};
  for (const name in properties) if (properties[name] !== '') present[name] = properties[name] as string;
  return present;
}

/** The hub's limit on one cloud-to-device message, in bytes as `sizeOf` counts them (C3; fact c2d.size). */
export const maxReplyBytes = 65_536;

/** Size as the hub counts it: body, system property values, application property names and values (C3). */
export function sizeOf({ body, deviceId, messageId, correlationId, properties }: Reply): number {
  const to = `/devices/${encodeURIComponent(deviceId)}/messages/devicebound`;
  const form = contentTypeOf({ properties }).length + contentEncoding.length;
  let bytes = Buffer.byteLength(body) + to.length + messageId.length + form;
  if (correlationId !== undefined) bytes += correlationId.length;
  for (const [name, value] of Object.entries(properties)) bytes += Buffer.byteLength(name) + Buffer.byteLength(value);
  return bytes;
}

/** Most replies fit by far: for these nothing is encoded to count it. */
export const fits = (reply: Reply): boolean => mostBytes(reply) <= maxReplyBytes || sizeOf(reply) <= maxReplyBytes;

/** UTF-8 has at most three bytes for a unit of text, and a URI nine characters. */
function mostBytes({ body, deviceId, messageId, correlationId, properties }: Reply): number {
  let units = body.length + messageId.length + (correlationId?.length ?? 0) + 3 * deviceId.length + 64;
  for (const name in properties) units += name.length + (properties[name] as string).length;
  return 3 * units;
}

/** The system property holds at most 128 printable ASCII characters; other ids are only in the application property (C1). */
export const systemCorrelationId = (id: string | undefined): string | undefined =>
  id !== undefined && /^[\x20-\x7e]{1,128}$/.test(id) ? id : undefined;
