import { randomUUID } from 'node:crypto';
import { type Finding, failure, ok } from 'telemetry/check/finding.ts';
import { createDirectMethods, type DirectMethodResult } from '../hub/methods/directMethods.ts';
import { accessOf } from '../identity/access.ts';
import { isSecret } from '../identity/rotatingSecret.ts';
import type { MethodsSettings } from '../settings/config.ts';
import { unanswered } from './unanswered.ts';

const what = 'service endpoint';

const ofKey = {
  setting: 'HUB_SERVICE_CONNECTION_STRING',
  compare: 'HostName',
  right: 'SharedAccessKeyName and SharedAccessKey must be those of a policy of this hub that has service connect',
};
const ofIdentity = {
  setting: 'HUB_HOST_NAME',
  compare: 'HUB_HOST_NAME',
  right: 'give the identity a role at this hub that may invoke methods (docs/identity.md)',
};

/** The right to invoke methods of devices, with one of a device that does not exist. */
export async function checkInvoking(settings: MethodsSettings): Promise<Finding[]> {
  const access = accessOf(settings).service();
  const methods = createDirectMethods(access);
  try {
    const result = await methods.invoke({
      device: `check-${randomUUID()}`,
      module: '',
      payload: null,
      timeoutSeconds: 5,
    });
    return [invokingFindingOf(result, isSecret(access))];
  } finally {
    methods.close();
  }
}

/** @param isByKey not by an identity */
export function invokingFindingOf(result: DirectMethodResult, isByKey: boolean): Finding {
  const { setting, compare, right } = isByKey ? ofKey : ofIdentity;
  if (result.kind === 'response') return ok(what, 'may invoke methods');
  const { failure: reason, status, code, cause } = result;
  if (reason === 'device_unknown' || reason === 'device_offline')
    return ok(what, 'may invoke methods: the hub has no such device as was asked for');
  const said = [status, code, cause].filter((one) => one !== undefined).join(' ') || 'no answer';
  return reason === 'refused'
    ? failure(what, `the hub refuses access: ${said} (${setting})`, right)
    : unanswered(what, said, setting, `compare ${compare} with that of the hub`);
}
