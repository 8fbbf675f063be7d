import { ownLimitOf, todoOf } from '../../text/absence.ts';
import { keyOrClock } from '../../text/clock.ts';
import type { HubError } from './hubError.ts';

/** What an operator can do when the hub takes no methods; fields of a log line. */
interface MethodsDiagnosis {
  readonly setting: string;
  readonly todo: string;
}

const ofKey = {
  setting: 'HUB_SERVICE_CONNECTION_STRING',
  host: 'HostName',
  right: 'SharedAccessKeyName and SharedAccessKey must be those of a policy of this hub that has service connect',
};
const ofIdentity = {
  setting: 'HUB_HOST_NAME',
  host: 'HUB_HOST_NAME',
  right: 'give the identity a role at this hub that may invoke methods (docs/identity.md)',
};

/** @param isByKey not by an identity */
export function diagnoseMethods({ failure, cause = '', date }: HubError, isByKey: boolean): MethodsDiagnosis {
  const { setting, host, right } = isByKey ? ofKey : ofIdentity;
  if (failure === 'refused') return { setting, todo: keyOrClock(right, '', date) };
  const compare = `compare ${host} with that of the hub`;
  return { setting, todo: todoOf(cause, compare) ?? `${compare}, or wait until it is back`, ...ownLimitOf(cause) };
}
