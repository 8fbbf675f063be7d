import type { HubError } from '../hub/methods/hubError.ts';
import { failures, type MethodFailure, type Reason } from '../protocol/vocabulary.ts';
import { Failure, type FailureOptions } from './failure.ts';

/** Reason and message for the caller, for each failure of the hub (M8). */
const messages: Readonly<
  Record<MethodFailure, readonly [Reason, string, Pick<FailureOptions, 'invoked' | 'retryAfter'>?]>
> = {
  device_offline: ['device_offline', 'the device is not connected, or does not listen to methods; nothing was invoked'],
  device_gone: [
    'outcome_unknown',
    'the hub lost the device, perhaps during the call; the method may have run, or still be running',
  ],
  device_unknown: ['device_unknown', 'the device is not registered at the hub, or is disabled; nothing was invoked'],
  throttled: [
    'throttled',
    'the hub throttles method calls, in total or for this device; nothing was invoked, repeat it later',
  ],
  quota: [
    'throttled',
    'the daily quota of the hub is used up; nothing was invoked, repeat it after midnight UTC',
    { retryAfter: 3600 },
  ],
  refused: [
    'hub_refuses_us',
    'the hub refuses access to the front door; nothing was invoked, and its operator has been alerted',
  ],
  unavailable: ['hub_unavailable', 'the hub is unavailable; nothing was invoked, repeat it later'],
  too_large: ['too_large', 'the payload is too large for the hub; reduce the input'],
  bad_reply: ['bad_reply', 'the response of the device is malformed; the method may have run'],
  no_reply: ['no_reply', 'the device did not respond in time; the method may have run, or still be running'],
  outcome_unknown: [
    'outcome_unknown',
    'the connection to the hub ended before its response; the method may have run, or still be running',
  ],
  invalid: [
    'internal_error',
    'the hub finds the invocation invalid, which is a defect of the front door: tell its operator',
    { invoked: 'no' },
  ],
  stopped_unsent: ['stopping', 'this front door is stopping; nothing was invoked, repeat it at once'],
  stopped: [
    'outcome_unknown',
    'this front door stopped before the device responded; the method may have run, or still be running',
  ],
};

export function failureFromHub({ failure, retryAfter: ofHub }: HubError): Failure {
  const [reason, detail, options] = messages[failure];
  const isRetried = 'retryAfter' in failures[reason];
  return new Failure(reason, detail, { ...options, ...(isRetried && ofHub !== undefined && { retryAfter: ofHub }) });
}
