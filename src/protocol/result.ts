import type { ResultCode } from './codes.ts';

/** The result of one message, for its acknowledgement. */
export interface Result {
  readonly success: boolean;
  readonly code: ResultCode;
  readonly details: string;
  /** Body fields of this message beyond the three common ones. */
  readonly fields: Readonly<Record<string, unknown>>;
  /** Properties of this message beyond the generation's own. */
  readonly properties: Readonly<Record<string, string>>;
  /** spec: identity.delete uses the key "detail" */
  readonly detailsKey: 'details' | 'detail';
}
