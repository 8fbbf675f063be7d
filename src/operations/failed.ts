import { type Finding, failure, outage } from '@device-messaging/telemetry/check.ts';
import { isLasting, ownLimitOf, todoOf } from '../observing/diagnosis.ts';

/** What a failed attempt means for an operator. */
interface Diagnosis {
  readonly setting?: string;
  readonly todo: string;
  /** The other side has answered, and refuses. */
  readonly isAnswer?: boolean;
  /** Has the code, if one is known. */
  readonly cause?: string | undefined;
}

/** An outage, which may pass, unless something must be mended. */
export function failed(what: string, said: string, { setting, todo, isAnswer, cause = '' }: Diagnosis): Finding {
  const found = setting === undefined ? said : `${said} (${setting})`;
  return (isAnswer || isLasting(cause) ? failure : outage)(what, found, todo);
}

/**
 * What was asked has not answered.
 * @param said has the code of the cause, if one is known
 */
export function unanswered(what: string, said: string, setting: string): Finding {
  const cause = said.match(/\b(?:E[A-Z]{2,}\w*|[A-Z]+_[A-Z_]+)\b/g)?.at(-1) ?? '';
  const compare = `compare ${setting}`;
  const todo = todoOf(cause, compare) ?? `${compare}, or wait until it is back`;
  return failed(what, said, { setting, todo, cause, ...ownLimitOf(cause) });
}
