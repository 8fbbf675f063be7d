import type { DirectMethod, DirectMethodResult, DirectMethods } from '../hub/methods/directMethods.ts';
import { asStep, type Steps } from '../tap/steps.ts';
import type { Tell } from '../tap/taps.ts';
import type { Failure } from './failure.ts';
import type { RequestFields } from './requestLog.ts';
import type { Invocation } from './schemas.ts';

/** What those who follow a device are told about an invocation of its methods. */

/** @param lookUpMs how long the information model took to name the device */
export function tellInvoked(tell: Tell, fields: RequestFields, lookUpMs: number): void {
  const { objectId, model, method, target, caller, traceId } = fields;
  tell('invoked', { objectId, model, method, target, caller, traceId, lookUpMs: Math.round(lookUpMs) });
}

export function tellDecoded(tell: Tell, { input, timeout }: Invocation): void {
  tell('decoded', { timeout }, { body: input === undefined ? undefined : JSON.stringify(input) });
}

/** Calls the direct method as a step of the invocation, and reports both ends of the call. */
export async function invokeAsStep(
  { invoke }: Pick<DirectMethods, 'invoke'>,
  method: DirectMethod,
  name: string,
  steps: Steps,
): Promise<DirectMethodResult> {
  const { device, module, payload, timeoutSeconds } = method;
  const request = steps.tell && JSON.stringify(payload);
  steps.tell?.('sent', { to: module === '' ? device : `${device}/${module}`, timeoutSeconds }, { request });
  const sentAt = performance.now();
  const result = await asStep(steps, `method ${name}`, 'device', invoke(method));
  const ms = Math.round(performance.now() - sentAt);
  if (result.kind === 'response') {
    const response = steps.tell && JSON.stringify(result.payload);
    steps.tell?.('answer', { ms, status: result.status }, { response });
  } else steps.tell?.('answer', { ms, failure: result.failure, hubStatus: result.status, errorCode: result.code });
  return result;
}

/** @param status of the response; undefined when the caller has gone */
export function tellAnswered(
  tell: Tell,
  { methodStatus }: RequestFields,
  status: number | undefined,
  failure: Failure | undefined,
  ms: number,
): void {
  const why = failure && { reason: failure.reason, details: failure.detail };
  tell('handled', { status: status ?? 'the caller has gone', methodStatus, ...why, ms: Math.round(ms) });
}
