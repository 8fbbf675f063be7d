import type { HubError, HubFailure } from '../hub/methods/hubError.ts';
import { Failure, type Reason } from './failure.ts';

/** What each failure of the hub means to the caller (M8). */
const meanings: Readonly<Record<HubFailure, readonly [Reason, string, retryAfter?: number]>> = {
  device_offline: [
    'device_offline',
    'the device is not connected, or does not listen to methods; nothing was invoked, unless it went away in this very moment',
  ],
  device_gone: [
    'outcome_unknown',
    'the device went away during the call; the method may have run, or still be running',
  ],
  device_unknown: [
    'device_unknown',
    'the hub does not know the device, or has it disabled; nothing was invoked until somebody registers or enables it',
  ],
  throttled: [
    'throttled',
    'the hub has too much to do, in all or for this device; nothing was invoked, repeat it later',
    5,
  ],
  quota: [
    'throttled',
    'the hub has used up its quota of today; nothing was invoked, repeat it after midnight UTC',
    3600,
  ],
  refused: [
    'hub_refuses_us',
    'the hub refuses the front door; nothing was invoked, and its operator has been alerted',
    60,
  ],
  unavailable: ['hub_unavailable', 'the hub cannot be reached or is out; nothing was invoked, repeat it later', 5],
  too_large: ['too_large', 'the hub takes no payload of this size; give less input'],
  bad_reply: ['bad_reply', 'the device does not answer as it should; the method may have run'],
  no_reply: ['no_reply', 'the device did not answer in time; the method may have run, or still be running'],
  outcome_unknown: [
    'outcome_unknown',
    'the hub broke off before it had an answer; the method may have run, or still be running',
  ],
  invalid: [
    'internal_error',
    'the hub finds the invocation invalid, which is the front door’s fault: tell its operator',
  ],
};

export function failureOfHub({ failure, retryAfter: asked }: HubError): Failure {
  const [reason, detail, retryAfter] = meanings[failure];
  return new Failure(reason, detail, { retryAfter: retryAfter === undefined ? undefined : (asked ?? retryAfter) });
}
