import { z } from 'zod';
import { answerReader, type Json, keysOf, pickSmall } from '../protocol/json.ts';
import { Rejection } from '../protocol/rejection.ts';

/** An HTTP status 4xx of a backend. Thrown, unless the caller expects the status. */
export class Refusal extends Rejection {
  readonly status: number;
  /** `meta` of the backend's error: after a 409 on create, `objectId` and `type` of the existing object. */
  readonly meta: Readonly<Record<string, unknown>>;

  constructor(status: number, details: string, meta: Readonly<Record<string, unknown>>) {
    super(status === 403 ? 'not_authorized' : 'http_response_error', details);
    this.status = status;
    this.meta = meta;
  }
}

/** No error needs more. A larger answer is not read. */
const maxErrorBytes = 65_536;

const backendError = z.object({
  title: z.string().optional().catch(undefined),
  detail: z.string().optional().catch(undefined),
  meta: z.record(z.string(), z.unknown()).catch({}),
});
const errorMembers = ['title', 'detail', 'meta'] as const;
const [outermost, ofError] = [keysOf(['errors']), keysOf(errorMembers)];

/** Describes a 4xx response to an operation of a backend. @param redacted removes from the backend's own words what must not be passed on */
export function refusalOf(operation: string, status: number, answer: Buffer, redacted: (words: string) => string) {
  const { title, detail, meta } = firstError(answer);
  const words = readable(redacted([title, detail].filter(Boolean).join(': ')));
  return new Refusal(status, `${operation} failed with HTTP ${status}${words && `: ${words}`}`, meta);
}

function firstError(answer: Buffer): z.infer<typeof backendError> {
  const nothing = { title: undefined, detail: undefined, meta: {} };
  if (answer.length > maxErrorBytes) return nothing;
  let first: Json | undefined;
  const take = (error: Json) => {
    first ??= error;
  };
  try {
    answerReader(answer, outermost, { key: 'errors', keys: ofError, take })(answer.length + 1);
    return first ? backendError.parse(pickSmall(first, errorMembers)) : nothing;
  } catch {
    return nothing;
  }
}

/** A text of a backend on one line, without addresses, and cut. */
export function readable(text: string, most = 300): string {
  const clean = text
    .replace(/\bhttps?:\/\/\S+/gi, '…')
    .replace(/[\p{Cc}\p{Zl}\p{Zp}]+/gu, ' ')
    .trim();
  return clean.length <= most ? clean : `${clean.slice(0, most - 1).replace(/\p{Surrogate}$/u, '')}…`;
}
