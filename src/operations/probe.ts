import { away, type Found, fault, type Said } from '@device-messaging/telemetry/check.ts';
import { isLasting, ownLimitOf, todoOf } from '../observing/diagnosis.ts';
import type { Openers } from './openers.ts';

/** What a program needs, tried as the program itself does it. */
export interface Probe<S> {
  /** Of its line; docs/operations.md says what each tries. */
  readonly name: string;
  applies?(settings: S): boolean;
  /** @returns by the table of diagnoses. @throws an error of the probe itself */
  attempt(open: Openers, settings: S): Promise<Said>;
}

/** What a failure means for an operator. */
interface Meaning {
  readonly setting?: string;
  readonly todo: string;
  /** The other side has answered, and refuses. */
  readonly isAnswer?: boolean;
  /** Has the code, if one is known. */
  readonly cause?: string | undefined;
}

/** An outage, which may pass, unless something must be mended. */
export const failed = (said: string, { setting, todo, isAnswer, cause = '' }: Meaning): Found =>
  (isAnswer || isLasting(cause) ? fault : away)(setting === undefined ? said : `${said} (${setting})`, todo);

/** @param said by what does not answer; has the code of the cause, if one is known */
export function unanswered(said: string, setting: string): Found {
  const cause = said.match(/\b(?:E[A-Z]{2,}\w*|[A-Z]+_[A-Z_]+)\b/g)?.at(-1) ?? '';
  const todo = todoOf(cause, `compare ${setting}`) ?? `compare ${setting}, or wait until it is back`;
  return failed(said, { setting, todo, cause, ...ownLimitOf(cause) });
}
