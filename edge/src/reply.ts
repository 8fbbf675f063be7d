import { type Answer, failure, maxAnswerBytes } from './answer.ts';

/** A message on a module's `{out}/{status}/{requestId}`. */
export interface Reply {
  /** As it stands in the topic. */
  readonly status: string;
  readonly payload: Buffer;
}

const mostLevels = 64;
const strict = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** What a module's reply is to the application: its status and output, or a bad reply (M11). */
export function readReply({ status, payload }: Reply): Answer {
  const value = /^(?:0|-?[1-9]\d{0,15})$/.test(status) ? Number(status) : Number.NaN;
  if (!Number.isSafeInteger(value)) return bad('its status is no integer');
  if (payload.length === 0) return { status: 200, payload: { status: value } };
  if (payload.length > maxAnswerBytes) return tooLarge();
  const output = parse(payload);
  if (output === undefined) return bad('its payload is neither empty nor a JSON object');
  if (!isShallow(output, mostLevels - 1)) return bad(`its payload is nested more than ${mostLevels - 1} levels deep`);
  const said = { status: value, output };
  // The client writes it anew: numbers and escapes can take more room than they came in.
  if (Buffer.byteLength(JSON.stringify(said)) > maxAnswerBytes) return tooLarge();
  return { status: 200, payload: said };
}

const bad = (why: string): Answer => failure(502, `the module replied, but ${why}`);
const tooLarge = (): Answer => bad(`with its status it has more than ${maxAnswerBytes} bytes`);

function parse(payload: Buffer): object | undefined {
  try {
    const value: unknown = JSON.parse(strict.decode(payload));
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

function isShallow(value: unknown, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return true;
  return levels > 0 && Object.values(value).every((member) => isShallow(member, levels - 1));
}
