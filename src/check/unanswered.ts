import { type Finding, failure, outage } from 'telemetry/check/finding.ts';
import { isLasting, ownLimitOf, todoOf } from '../observing/diagnosis.ts';

/**
 * What was asked has not answered.
 * @param said has the code of the cause, if one is known
 * @param compare what names the host in the settings, and with what to compare it
 */
export function unanswered(what: string, said: string, setting: string, compare: string): Finding {
  const code = said.match(/\b(?:E[A-Z]{2,}\w*|[A-Z]+_[A-Z_]+)\b/g)?.at(-1) ?? '';
  const mend = todoOf(code, compare) ?? `${compare}, or wait until it is back`;
  const { setting: blamed = setting, todo = mend } = ownLimitOf(code);
  return (isLasting(code) ? failure : outage)(what, `${said} (${blamed})`, todo);
}
