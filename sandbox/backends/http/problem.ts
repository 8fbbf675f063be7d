import { randomUUID } from 'node:crypto';

/** What a problem's `meta` may carry: facts for the caller's program, never another device's data. */
export type Meta = Readonly<Record<string, string | number | readonly string[]>>;

/** A refused call. `message` is the error body's `detail`: one sentence, without values of the request. */
export class Problem extends Error {
  readonly status: number;
  readonly title: string;
  readonly meta: Meta;

  constructor(status: number, title: string, detail: string, meta: Meta = {}) {
    super(detail);
    this.status = status;
    this.title = title;
    this.meta = meta;
  }
}

export const invalid = (detail: string, meta?: Meta) => new Problem(400, 'Validation failed', detail, meta);
export const invalidModification = (detail: string) => new Problem(400, 'Invalid modification', detail);
export const forbidden = (detail: string) => new Problem(403, 'Not authorized', detail);
export const notFound = (what: string) => new Problem(404, 'Not found', `${what} does not exist`);
export const conflict = (title: string, detail: string, meta?: Meta) => new Problem(409, title, detail, meta);

/** The error body that every backend answers: `{"errors":[{code,title,detail,id,meta}]}`, `code` being the status as text. */
export function problemBody({ status, title, message, meta }: Problem): string {
  return JSON.stringify({ errors: [{ code: String(status), title, detail: message, id: randomUUID(), meta }] });
}
