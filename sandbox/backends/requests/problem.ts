import { randomUUID } from 'node:crypto';

/** What a problem's `meta` may carry: facts for the caller's program, never another device's data. */
export type Meta = Readonly<Record<string, string | number | readonly string[]>>;

/** A refused call. `message` is the error body's `detail`: one sentence, without values of the request. */
export class Problem extends Error {
  readonly status: number;
  readonly title: string;
  readonly meta: Meta;
  readonly headers: Readonly<Record<string, string>> | undefined;

  constructor(status: number, title: string, detail: string, meta: Meta = {}, headers?: Record<string, string>) {
    super(detail);
    this.status = status;
    this.title = title;
    this.meta = meta;
    this.headers = headers;
  }
}

export const invalid = (detail: string, meta?: Meta) => new Problem(400, 'Validation failed', detail, meta);
export const invalidModification = (detail: string) => new Problem(400, 'Invalid modification', detail);
export const forbidden = (detail: string) => new Problem(403, 'Not authorized', detail);
/** RFC 6750 §3: the challenge says more than `Bearer` only when there was a token. */
export const unauthorized = (authorization: string | undefined) =>
  new Problem(
    401,
    'Unauthorized',
    'the bearer token is missing, unknown or expired',
    {},
    { 'www-authenticate': authorization === undefined ? 'Bearer' : 'Bearer error="invalid_token"' },
  );
export const notFound = (what: string) => new Problem(404, 'Not found', `${what} does not exist`);
export const conflict = (title: string, detail: string, meta?: Meta) => new Problem(409, title, detail, meta);

/** The error body that every backend answers: `{"errors":[{code,title,detail,id,meta}]}`, `code` being the status as text. */
export function problemBody({ status, title, message, meta }: Problem): string {
  return JSON.stringify({ errors: [{ code: String(status), title, detail: message, id: randomUUID(), meta }] });
}
