import { failure, type MethodResponse, maxResponseBytes } from '../hub/methodResponse.ts';

/** A message on the topic `{out}/{status}/{requestId}` of a module. */
export interface Reply {
  readonly moduleId: string;
  readonly requestId: string;
  /** As in the topic. */
  readonly status: string;
  readonly payload: Buffer;
  readonly isRetained: boolean;
}

const maxDepth = 63;
const strictUtf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** The module's status and output, or a failure when the reply is malformed (M11). */
export function responseTo({ status, payload }: Pick<Reply, 'status' | 'payload'>): MethodResponse {
  const value = /^(?:0|-?[1-9]\d{0,15})$/.test(status) ? Number(status) : Number.NaN;
  if (!Number.isSafeInteger(value)) return malformed('its status is not an integer');
  if (payload.length === 0) return { status: 200, payload: { status: value } };
  if (payload.length > maxResponseBytes) return tooLarge;
  const output = parse(payload);
  if (output === undefined) return malformed('its payload is neither empty nor a JSON object');
  if (!isShallow(output, maxDepth)) return malformed(`its payload is nested more than ${maxDepth} levels deep`);
  const response = { status: value, output };
  // Serialised anew, numbers and escapes can become longer.
  if (Buffer.byteLength(JSON.stringify(response)) > maxResponseBytes) return tooLarge;
  return { status: 200, payload: response };
}

const malformed = (reason: string): MethodResponse =>
  failure('bad_reply', `the module sent a malformed reply: ${reason}`);
const tooLarge = malformed(`with its status it has more than ${maxResponseBytes} bytes`);

function parse(payload: Buffer): object | undefined {
  try {
    const value: unknown = JSON.parse(strictUtf8.decode(payload));
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

function isShallow(value: unknown, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return true;
  return levels > 0 && Object.values(value).every((member) => isShallow(member, levels - 1));
}
