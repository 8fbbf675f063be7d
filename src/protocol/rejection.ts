import type { FailureCode } from './codes.ts';
import { shortened } from './details.ts';

/**
 * The error that becomes a failed acknowledgement. `details` tells a device developer what to do. It contains no URL,
 * token, stack or request value, and is cut when it is too long. `fields` are added to the acknowledgement's body.
 */
export class Rejection extends Error {
  override readonly name = 'Rejection';
  readonly code: FailureCode;
  readonly details: string;
  readonly fields: Readonly<Record<string, unknown>>;

  constructor(code: FailureCode, details: string, fields: Readonly<Record<string, unknown>> = {}, cause?: unknown) {
    const short = shortened(details);
    const { stackTraceLimit } = Error;
    Error.stackTraceLimit = 0; // a stack is of no use here, and takes longer than the rest
    super(`${code}: ${short}`, cause === undefined ? undefined : { cause });
    Error.stackTraceLimit = stackTraceLimit;
    this.code = code;
    this.details = short;
    this.fields = fields;
  }

  /** The same failure with the acknowledgement fields that a card reports in any case. */
  with(fields: Readonly<Record<string, unknown>>): Rejection {
    return new Rejection(this.code, this.details, { ...fields, ...this.fields }, this.cause);
  }
}
