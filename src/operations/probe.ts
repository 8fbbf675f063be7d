import { type Finding, ok } from '@device-messaging/telemetry/check.ts';
import { isLasting, ownLimitOf, todoOf } from '../observing/diagnosis.ts';
import type { Openers } from './openers.ts';

/** What a program needs, tried as the program itself does it. */
export interface Probe<S> {
  /** Of its line; docs/operations.md says what each tries. */
  readonly name: string;
  applies?(settings: S): boolean;
  /** @returns what is well, in words, or what is not, by the table of diagnoses. @throws an error of the probe itself */
  attempt(open: Openers, settings: S): Promise<string | Found | readonly (string | Found)[]>;
}

/** Of the probe, unless it says of what. */
export type Found = Omit<Finding, 'what'> & { readonly what?: string };

export async function findingsOf<S>(probe: Probe<S>, open: Openers, settings: S): Promise<Finding[]> {
  const what = probe.name;
  const found = await probe.attempt(open, settings);
  return [found].flat().map((one) => (typeof one === 'string' ? ok(what, one) : { what, ...one }));
}

export const doubt = (found: string, todo: string): Found => ({ mark: 'warning', found, todo });
export const fault = (found: string, todo: string): Found => ({ mark: 'failure', found, todo });
export const away = (found: string, todo: string): Found => ({ ...fault(found, todo), isOutage: true });

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
